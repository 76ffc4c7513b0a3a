# PgBouncer in transaction mode in front of a server.
#
#	my $pooler = Pooler->new($node) or skip ...;	undef if PgBouncer is not installed
#	Pooler->new($node, prepares => 0)	without support of prepared statements
#	Pooler->new($node, sessions => 1, user => 'app')	other numbers of server sessions, and users
#	$pooler->connection		arguments of psql and pgbench
#	$pooler->prepares		whether PgBouncer supports prepared statements
#	$pooler->move_to($other_node)
#	$pooler->stop
#
# PgBouncer has four server sessions in each database.  The next transaction runs in the session that has
# been idle for the longest time.
package Pooler;
use ServerTest;

sub new
{
	my ($class, $node, %options) = @_;
	my ($bouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin';
	return unless $bouncer;
	my ($major, $minor) = qx($bouncer --version) =~ /PgBouncer (\d+)\.(\d+)/;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { dir => $dir, port => PostgreSQL::Test::Cluster::get_free_port(), prepares => $major > 1 || $minor >= 21, sessions => 4, user => scalar(getpwuid $<), %options }, $class;

	append_to_file("$dir/pgbouncer.ini",
		"[databases]\n* = host=" . $node->host . ' port=' . $node->port . " user=$self->{user}\n[pgbouncer]\n"
		  . "listen_addr =\nlisten_port = $self->{port}\nunix_socket_dir = $dir\nauth_type = any\npool_mode = transaction\n"
		  . "default_pool_size = $self->{sessions}\nmin_pool_size = $self->{sessions}\nserver_round_robin = 1\nserver_login_retry = 0.1\nlogfile = $dir/log\n"
		  . ($major > 1 || $minor >= 21 ? 'max_prepared_statements = ' . ($self->{prepares} ? 100 : 0) . "\n" : ''));
	$self->{process} = IPC::Run::start([ $bouncer, '--quiet', "$dir/pgbouncer.ini" ], '<', \undef, '>&', "$dir/out");
	for (1 .. 300)
	{
		return $self if !system('psql', '-XAtqc', 'SELECT', '-h', $dir, '-p', $self->{port}, 'postgres');
		select undef, undef, undef, 0.1;
	}
	die 'PgBouncer does not start: ' . slurp_file("$dir/out");
}

sub connection { return ('-h', $_[0]{dir}, '-p', $_[0]{port}, 'postgres') }

sub prepares { return $_[0]{prepares} }

# Let PgBouncer use another server after the transactions in progress.
sub move_to
{
	my ($self, $node) = @_;
	my $file = "$self->{dir}/pgbouncer.ini";
	my $changed = slurp_file($file) =~ s/host=\S+ port=\d+/'host=' . $node->host . ' port=' . $node->port/er;

	unlink $file;
	append_to_file($file, $changed);
	$self->{process}->signal('HUP');
	return;
}

sub stop
{
	my ($self) = @_;
	my $process = delete $self->{process} or return;

	$process->kill_kill;
}

sub DESTROY { local $?; $_[0]->stop }

1;
