# A server whose clock and random source do as they are told; see world.c.
#
#	my $world = World->new('name') or plan skip_all => World::REASON;
#	my ($out, $err) = $world->session($turn1, $sql1, $turn2, $sql2, ...);
#
# runs the SQL in one session; before each piece the world turns to what is
# said, 'normal' for the real one.  Errors come with their SQLSTATE.
package World;
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use constant REASON => 'this server takes random octets from elsewhere than OpenSSL';

sub new
{
	my ($class, $name) = @_;
	my $bindir = qx(pg_config --bindir);
	chomp $bindir;
	return if qx(ldd $bindir/postgres) !~ /libcrypto/;

	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { file => "$dir/world" }, $class;
	system('gcc', '-shared', '-fPIC', "-DWORLD=\"$self->{file}\"",
		'-o', "$dir/world.so", "$FindBin::Bin/world.c", '-ldl') == 0 or die 'world.c does not build';

	$self->{node} = PostgreSQL::Test::Cluster->new($name);
	$self->{node}->init;
	local $ENV{LD_PRELOAD} = "$dir/world.so";
	$self->{node}->start;
	$self->{node}->safe_psql('postgres', 'CREATE EXTENSION uuid9562');
	return $self;
}

sub node { return $_[0]{node} }

sub session
{
	my ($self, @pieces) = @_;
	my $script = "\\set VERBOSITY verbose\n";

	while (my ($turn, $sql) = splice @pieces, 0, 2)
	{
		$script .= $turn eq 'normal' ? "\\! rm -f $self->{file}\n" : "\\! printf '%s' '$turn' > $self->{file}\n";
		$script .= "$sql;\n";
	}
	$script .= "\\! rm -f $self->{file}\n";
	my ($status, $out, $err) = $self->{node}->psql('postgres', $script, on_error_stop => 0);
	return ($out, $err);
}

1;
