# A server whose clock, random source and disk are controlled by a test; see world.c.
#
#	my $world = World->new('name') or plan skip_all => World::REASON;
#	my ($out, $err) = $world->session($turn1, $sql1, $turn2, $sql2, ...);
#
# session() runs all SQL in one session, and sets a state of world.c before each piece of SQL.
# The state 'normal' is the real clock, random source and disk.  The returned errors have
# their SQLSTATE.
package World;
use ServerTest;

use constant REASON => 'this server does not take random bytes from OpenSSL';
use constant NARROW => 'the clock of this system has 32 bits, and ends in 2038';

my $narrow = system(q{echo '#include <time.h>
int wide[sizeof(time_t) == 8 ? 1 : -1];' | gcc -fsyntax-only -x c - 2>/dev/null}) != 0;

# Check whether the system clock of this machine can represent the time of a state.
sub can_be
{
	my ($class, $what) = @_;
	return !$narrow || $what !~ /^(-?\d+) / || abs $1 < 2**31;
}

sub new
{
	my ($class, $name, $conf, %node_options) = @_;
	$conf = '' unless defined $conf;
	my $bindir = qx(pg_config --bindir);
	chomp $bindir;
	return if qx(ldd $bindir/postgres) !~ /libcrypto/;

	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { file => "$dir/world", library => "$dir/world.so" }, $class;
	system('gcc', '-shared', '-fPIC', "-DWORLD=\"$self->{file}\"",
		'-o', "$dir/world.so", "$FindBin::Bin/world.c", '-ldl') == 0 or die 'world.c does not build';

	$self->{node} = PostgreSQL::Test::Cluster->new($name);
	$self->{node}->init(%node_options);
	# a clock that jumps would end the connections of standbys
	$self->{node}->append_conf('postgresql.conf', "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n$conf");
	$self->start;
	$self->{node}->safe_psql('postgres', 'CREATE EXTENSION uuid9562');
	return $self;
}

sub node { return $_[0]{node} }

# Return the branches in the file of a server's high-water mark, oldest first: of each its name, and its
# floor in seconds since 1970, or undef.
sub branches
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'CHECKPOINT');
	# after the header of the page and of the record, and the end of the reservation: a count, and three
	# numbers for each branch
	my @fields = unpack 'x48 Q/(Q3)', slurp_file($node->data_dir . '/global/9562');
	my @branches;
	while (my ($name, $targets, $floor) = splice @fields, 0, 3)
	{
		push @branches, [ $name, $floor == ~0 ? undef : $floor / 4096000 ];
	}
	return @branches;
}

# Start a server, by default the server of this object.  The server has a state of its own if
# turn() was called for its node before.  The options are those of its start().
sub start
{
	my ($self, $node, %options) = @_;
	local $ENV{LD_PRELOAD} = $self->{library};
	local $ENV{UUID9562_WORLD} = $self->file_of($node);
	return ($node || $self->{node})->start(%options);
}

# Start a server with a state of its own.  Set the state last, since pg_ctl compares the start time with the
# real clock.
sub start_in
{
	my ($self, $node, $what) = @_;

	$self->turn('normal', $node);
	$self->start($node);
	$self->turn($what, $node) if $what;
	return $node;
}

# Return a server from a backup of the server of this object: a standby of the server $of, or an independent
# server.  It has a state of its own.
sub from_backup
{
	my ($self, $backup, $name, $of, $what, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($self->node, $backup, has_streaming => $of ? 1 : 0);
	$node->append_conf('postgresql.conf', "archive_mode = off\n" . ($of ? "primary_conninfo = '" . $of->connstr . " application_name=$name'\n" : '') . ($conf // ''));
	return $self->start_in($node, $what);
}

sub file_of
{
	my ($self, $node) = @_;
	my $own = $node && $self->{own}{ $node->name };

	return $own || $self->{file};
}

# Kill the postmaster, and wait until its children have ended.
sub kill
{
	my ($self) = @_;
	my @children = split /\n/, $self->{node}->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');

	$self->{node}->kill9;
	for (1 .. 600)
	{
		return unless CORE::kill 0, @children;
		select undef, undef, undef, 0.1;
	}
	die 'the children of a killed postmaster live on';
}

# Set the state for a node, or for all servers without a state of their own.
sub turn
{
	my ($self, $what, $node) = @_;
	die "$what: " . NARROW unless World->can_be($what);
	$self->{own}{ $node->name } = "$self->{file}." . $node->name if $node;
	my $file = $self->file_of($node);
	PostgreSQL::Test::Utils::append_to_file("$file.new", $what) if $what ne 'normal';
	$what eq 'normal' ? unlink $file : rename "$file.new", $file;
}

sub session
{
	my ($self, @pieces) = @_;
	my $script = "\\set VERBOSITY verbose\n";

	while (my ($turn, $sql) = splice @pieces, 0, 2)
	{
		die "$turn: " . NARROW unless World->can_be($turn);
		$script .= $turn eq 'normal' ? "\\! rm -f $self->{file}\n" : "\\! printf '%s' '$turn' > $self->{file}\n";
		$script .= "$sql;\n";
	}
	$script .= "\\! rm -f $self->{file}\n";
	my ($status, $out, $err) = $self->{node}->psql('postgres', $script, on_error_stop => 0);
	return ($out, $err);
}

1;
