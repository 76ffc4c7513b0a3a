# What scripts/package and scripts/matrix mount, where the root is a mount of its own
# and where it is not, as in a plain chroot.
use strict;
use warnings;

use Cwd;
use File::Temp;
use Test::More;

plan skip_all => 'only root mounts' if $> != 0;
plan skip_all => 'this machine does not let root mount' if system('unshare --mount --propagation private true 2>/dev/null') != 0;

my $folder = File::Temp->newdir;
my $checkout = getcwd();

open my $script, '>', "$folder/command" or die $!;
print $script <<'END';
#!/bin/bash
set -euo pipefail
. "$CHECKOUT/scripts/common.sh"
. "$CHECKOUT/scripts/trees.sh"
own_mounts "$@"
trees=$TREES
mkdir -p "$trees/one/proc" "$trees/two/dev"
mount -t tmpfs tmpfs "$trees/two/dev"
mount -t proc proc "$trees/one/proc"
leave_tree "$trees/two"
[ -e "$trees/one/proc/mounts" ]
echo "before: $(grep -c " $trees/" /proc/self/mounts)"
leave_tree
echo "after: $(grep -c " $trees/" /proc/self/mounts)"
echo "arguments: $*"
END
close $script;
chmod 0755, "$folder/command";

my $says = "before: 1\nafter: 0\narguments: one two\n";
is(`CHECKOUT=$checkout TREES=$folder/trees $folder/command one two 2>&1`, $says, 'mounts into trees, and leaves them again');

# Its root is a folder as any other, with this machine's programs mounted in it.
my $plain = "$folder/plain";
mkdir $_ or die "$_: $!" foreach $plain, map { "$plain/$_" } qw(usr proc tmp dev checkout);
foreach my $link (grep { -l } map { "/$_" } qw(bin sbin lib lib32 lib64 libx32))
{
	symlink readlink($link), "$plain$link" or die "$link: $!";
}
my $inside = join ' && ', (map { "mount --rbind /$_ $plain/$_" } qw(usr proc dev)), "mount --bind $checkout $plain/checkout",
  "cp $folder/command $plain/tmp/", "CHECKOUT=/checkout TREES=/trees chroot $plain /tmp/command one two";
is(`unshare --mount --propagation private sh -c '$inside' 2>&1`, $says, 'and so in a plain chroot');

done_testing();
