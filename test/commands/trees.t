# Test that scripts/lib/trees.sh unmounts everything that is mounted into trees, the chroots of
# scripts/package and scripts/lab/matrix.
use strict;
use warnings;

use Cwd;
use File::Temp;
use Test::More;

plan skip_all => 'only root can mount' if $> != 0;
plan skip_all => 'root cannot mount on this machine' if system('unshare --mount --propagation private true 2>/dev/null') != 0;

my $folder = File::Temp->newdir;
my $checkout = getcwd();

open my $script, '>', "$folder/command" or die $!;
print $script <<'END';
#!/bin/bash
set -euo pipefail
. "$CHECKOUT/scripts/lib/common.sh"
. "$CHECKOUT/scripts/lib/trees.sh"
own_mounts "$@"
trees=$TREES
mkdir -p "$trees/one/proc" "$trees/two/dev"
mount -t tmpfs tmpfs "$trees/two/dev"
mkdir "$trees/two/dev/shm"
mount -t tmpfs tmpfs "$trees/two/dev/shm"
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
is(`CHECKOUT=$checkout TREES=$folder/trees $folder/command one two 2>&1`, $says, 'leave_tree unmounts one tree with nested mounts, and then all trees');

done_testing();
