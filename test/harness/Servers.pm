# The servers of the harness: a primary whose clock and disk are controlled, at times a standby, and
# PgBouncer.  All that the harness knows of installing the extension is in install().
package Servers;
use ServerTest;
use File::Path qw(rmtree);
use Pooler;
use PostgreSQL::Test::RecursiveCopy;
use Session;
use World;

my $count = 0;

sub new
{
	my ($class) = @_;
	my $world = World->new('source', <<'CONF', allows_streaming => 1, extra => [ '--encoding', 'UTF8' ]) or return;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
max_connections = 60
max_prepared_transactions = 20
restart_after_crash = on
deadlock_timeout = 50ms
autovacuum = off
fsync = off
wal_writer_delay = '10 s'
wal_keep_size = 500MB
wal_retrieve_retry_interval = 100ms
log_statement = none
CONF
	my $self = bless { world => $world, node => $world->node, clock => 0, known => {} }, $class;

	$self->crash('fast');	# from now on, it has a clock of its own
	$self->sql('postgres', 'CREATE ROLE app LOGIN');
	return $self;
}

# Execute statements as superuser, in a session that lasts as long as the server.  Return the last result.
sub sql
{
	my ($self, $database, @statements) = @_;
	my $result;

	foreach my $statement (@statements)
	{
		for (1 .. 2)
		{
			$result = ($self->{sessions}{$database} ||= Session->new('servers', $self->{node}->connstr($database)))->run($statement);
			last if $result->{error} ne 'lost';
			delete $self->{sessions}{$database};
		}
		die "$statement: $result->{message}" if $result->{error} ne '';
	}
	return join "\n", map { join '|', @$_ } @{ $result->{rows} };
}

# Install the extension, or the form without C, as an ordinary role.
sub install
{
	my ($self, $database, $form) = @_;
	my $run = sub { $self->{node}->safe_psql($database, $_[0], extra_params => [ '-U', 'app', '-v', 'ON_ERROR_STOP=1' ]) };

	return $run->('CREATE EXTENSION uuid9562_changes CASCADE') if $form eq 'C';
	$run->("\\i $_") foreach map { "$FindBin::Bin/managed/$_.sql" } 'uuid9562', 'uuid9562_changes';
	return;
}

# Create the database "run" from a template, which is created by its name and two functions at first use.
sub create
{
	my ($self, $form, $name, $tables) = @_;
	my $template = lc "template_$name";

	if (!$self->{known}{$template}++)
	{
		$self->sql('postgres', "CREATE DATABASE $template OWNER app");
		$self->{node}->safe_psql($template, 'GRANT CREATE ON SCHEMA public TO app');
		$self->install($template, $form);
		$self->{node}->safe_psql($template, 'SET search_path = public, uuid9562, uuid9562_changes;' . $tables, extra_params => [ '-U', 'app' ]);
	}
	# PgBouncer keeps the search path that its first connection to a database had, on PostgreSQL 18 and later
	$self->stop_poolers if grep { $_ ne 'C' } $form, $self->{form} // 'C';
	$self->{form} = $form;
	foreach (split /\n/, $self->sql('postgres', q{SELECT gid FROM pg_prepared_xacts})) { $self->sql('run', "ROLLBACK PREPARED '$_'") }
	$self->sql('postgres', 'DROP DATABASE IF EXISTS run WITH (FORCE)');
	$self->sql('postgres', "CREATE DATABASE run TEMPLATE $template OWNER app");
	$self->sql('postgres', 'ALTER DATABASE run SET search_path = public, uuid9562, uuid9562_changes') if $form ne 'C';
	return;
}

# Return how to connect: directly, or through PgBouncer with a number of server sessions.
sub connstr
{
	my ($self, $sessions) = @_;

	return $self->{node}->connstr('run') . ' user=app' unless $sessions;
	my $pooler = $self->{poolers}{$sessions} ||= Pooler->new($self->{node}, sessions => $sessions, user => 'app') || die 'PgBouncer is not installed';
	my ($host, $port) = ($pooler->connection)[ 1, 3 ];
	return "host=$host port=$port dbname=run user=app";
}

# Return a server that survives what happens to the primary, with a new database "copies".
sub other
{
	my ($self) = @_;
	my $other = $self->{other} ||= new_server('copies', '', extra => [ '--encoding', 'UTF8' ]);

	$other->safe_psql('postgres', "$_ DATABASE " . ($_ eq 'DROP' ? 'IF EXISTS copies WITH (FORCE)' : 'copies')) foreach 'DROP', 'CREATE';
	return $other;
}

# PgBouncer connects to the server that was the primary when it started.
sub stop_poolers { my ($self) = @_; $_->stop foreach values %{ delete $self->{poolers} || {} }; return }

sub has_pooler { return scalar grep { -x "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin' }

# --- disturbances -------------------------------------------------------------------

# Set the clock of the primary to some seconds ahead.
sub turn { my ($self, $seconds) = @_; $self->{clock} = $seconds; $self->{world}->turn($seconds ? "by $seconds" : 'normal', $self->{node}); return }

# pg_ctl compares the start time with the real clock.
sub start
{
	my ($self) = @_;

	$self->{world}->turn('normal', $self->{node});
	$self->{world}->start($self->{node});
	$self->turn($self->{clock});
	return;
}

sub crash
{
	my ($self, $mode) = @_;

	local $self->{world}{node} = $self->{node};
	$mode eq 'kill' ? $self->{world}->kill : $self->{node}->stop($mode);
	return $self->start;
}

# Wait for the server, which ends all sessions and restarts by itself after the crash of a backend.
sub await
{
	my ($self) = @_;

	$_->run('SELECT pg_sleep(10)') foreach grep { defined } $self->{sessions}{postgres};
	delete $self->{sessions};
	for (1 .. 600)
	{
		return if eval { $self->sql('postgres', 'SELECT 1') };
		select undef, undef, undef, 0.05;
	}
	die 'the server does not restart';
}

# Create a standby from a new backup, or by pg_rewind from the last primary.
sub add_standby
{
	my ($self, $rewind) = @_;
	my $name = 'server_' . ++$count;
	my $old = delete $self->{old};

	return if $self->{standby};
	if ($rewind && $old && !$old->{_pid})
	{
		$self->sql('postgres', 'CHECKPOINT');
		system_log('pg_rewind', '--no-sync', '--source-server', $self->{node}->connstr('postgres'), '--target-pgdata', $old->data_dir) == 0 or return;
		$old->append_conf('postgresql.conf', 'port = ' . $old->port . "\nunix_socket_directories = '" . $old->host . "'\nprimary_conninfo = '" . $self->{node}->connstr . "'\n");
		$old->set_standby_mode;
		$self->{standby} = $old;
	}
	else
	{
		$self->{node}->backup($name);
		$self->{standby} = PostgreSQL::Test::Cluster->new($name);
		$self->{standby}->init_from_backup($self->{node}, $name, has_streaming => 1);
		$self->{standby}->append_conf('postgresql.conf', "primary_conninfo = '" . $self->{node}->connstr . "'\n");
	}
	$self->{nodes}{ $self->{standby}->name } = $self->{standby};
	$self->{world}->turn('normal', $self->{standby});
	{
		local $ENV{PGCTLTIMEOUT} = 10;
		return if $self->{world}->start($self->{standby}, fail_ok => 1);
	}
	# a transaction with more than 64 subtransactions lets a new standby accept no connections until it ends
	$self->sql('postgres', q{SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name ~ '^w[0-9]'});
	$self->sql('run', "ROLLBACK PREPARED '$_'") foreach split /\n/, $self->sql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	$self->sql('postgres', 'CHECKPOINT');
	$self->{standby}->poll_query_until('postgres', 'SELECT true') or die 'the standby does not start';
	return;
}

# From now on, the standby lacks what is committed.
sub cut_off
{
	my ($self) = @_;
	my $standby = $self->{standby};

	return if !$standby || $self->{is_cut};
	# first let it have what makes it usable
	$self->{node}->wait_for_catchup($standby, 'replay', $self->{node}->lsn('flush'));
	$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
	$standby->reload;
	$self->{node}->poll_query_until('postgres', 'SELECT NOT EXISTS (SELECT FROM pg_stat_replication)') or die 'the standby is still connected';
	return $self->{is_cut} = 1;
}

# Promote the standby.  Return whether transactions can be lost.
sub promote
{
	my ($self, $mode) = @_;
	my $standby = delete $self->{standby} or return 0;
	my $loses = delete $self->{is_cut} || $mode eq 'immediate';

	# only a standby that is connected gets everything before a fast shutdown ends
	$self->{node}->wait_for_catchup($standby, 'flush', $self->{node}->lsn('flush')) unless $loses;
	$self->{node}->stop($mode);
	$standby->promote;
	@{$self}{qw(old node)} = ($self->{node}, $standby);
	$self->stop_poolers;
	# the clock of the new primary can be behind, so that it generates smaller IDs
	$self->turn(0);
	return $loses;
}

# Keep a copy of the data directory, or restore it over a newer one on the same timeline.
sub save
{
	my ($self) = @_;

	$self->{node}->stop('fast');
	rmtree($self->{copy}{folder}) if $self->{copy};
	$self->{copy} = { folder => PostgreSQL::Test::Utils::tempdir() . '/copy', node => $self->{node} };
	PostgreSQL::Test::RecursiveCopy::copypath($self->{node}->data_dir, $self->{copy}{folder});
	return $self->start;
}

sub restore
{
	my ($self) = @_;
	my $copy = $self->{copy} or return;
	my $node = $copy->{node};

	# after a promotion, the copy is another branch of the same history
	return if $self->{standby};
	$self->{node}->stop('immediate');
	$self->{node} = $node;
	$self->stop_poolers;
	rmtree($node->data_dir);
	PostgreSQL::Test::RecursiveCopy::copypath($copy->{folder}, $node->data_dir);
	chmod 0700, $node->data_dir;
	$self->start;
	return 1;
}

# Return what the logs of all servers say about crashes that no disturbance caused.
sub complaints { my ($self) = @_; return map { slurp_file($_->logfile) =~ /^(.*(?:PANIC|TRAP|terminated by signal [^9]|does not contain valid).*)$/mg } $self->{world}->node, values %{ $self->{nodes} } }

# Forget what belongs to the last run.
sub clean
{
	my ($self) = @_;

	if (my $standby = delete $self->{standby}) { $standby->stop('immediate') }
	delete @{$self}{qw(copy is_cut old)};
	$self->turn(0) if $self->{clock};
	return;
}

sub stop { my ($self) = @_; $self->stop_poolers; $self->clean; $_->stop foreach grep { defined } @{$self}{qw(node other)}; return }

1;
