# Copies of a table by examples/copy_table.py, in a database of another server.
#
#	my $copy = Copies->new($source, $table, $node)	a copy in the new database "copies"
#	... ->new($source, $table, $node, 'other')		a copy in an existing database
#	$copy->run('--once')					run the program, and return what it prints
#	$copy->start; $copy->kill; $copy->stop	run it in the background
#	$copy->wait_for_rows($count)			wait until the copy has some rows
#	$copy->last_words						wait until the program ends, and return what it printed
#	$copy->rows($columns, $order)			return the rows of the copy
#	$copy->ask(@statements)					return the result of statements in the database of the copy
#	differences($rows, $others)				return the first lines that differ, or an empty text
package Copies;
use Exporter 'import';
use ServerTest;

our @EXPORT = qw(differences);

my $python = '/usr/bin/python3';
my $count = 0;

sub can_copy { return system("$python -c 'import psycopg' 2>/dev/null") == 0 }

sub differences
{
	my ($rows, $others) = @_;
	my %side;

	$side{$_}++ foreach split /\n/, $rows;
	$side{$_}-- foreach split /\n/, $others;
	my @lines = map { ($side{$_} > 0 ? '< ' : '> ') . $_ } grep { $side{$_} } sort keys %side;
	return join "\n", @lines > 10 ? (@lines[ 0 .. 9 ], '... ' . @lines . ' lines') : @lines;
}

sub new
{
	my ($class, $source, $table, $node, $database) = @_;
	my $self = bless { source => $source, table => $table, name => $table =~ s/.*\.//r, node => $node, database => $database || 'copies', log => PostgreSQL::Test::Utils::tempdir() . '/copy' . ++$count . '.log' }, $class;

	$node->safe_psql('postgres', 'CREATE DATABASE copies') unless $database;
	$self->{target} = $node->connstr($self->{database});
	return $self;
}

sub command { my ($self, @options) = @_; return [ $python, "$FindBin::Bin/examples/copy_table.py", @$self{qw(source table target)}, @options ] }

sub run
{
	my ($self, @options) = @_;
	my $out = '';

	IPC::Run::run([ 'timeout', '120', @{ $self->command(@options) } ], '<', \undef, '>&', \$out) or $out .= "exit status $?\n";
	return $out;
}

sub start { my ($self) = @_; $self->{process} = IPC::Run::start($self->command, '<', \undef, '>>', $self->{log}, '2>>', $self->{log}); return }

sub stop { my ($self, $signal) = @_; my $process = delete $self->{process} or return; $process->signal($signal || 'TERM'); $process->finish; return }

sub kill { $_[0]->stop('KILL'); return }

sub wait_for_rows
{
	my ($self, $count) = @_;

	for (1 .. 300)
	{
		# the copy need not exist yet
		return if (eval { $self->ask(qq{SELECT count(*) FROM "$self->{name}"}) } // '') eq $count;
		select undef, undef, undef, 0.1;
	}
	die "the copy does not have $count rows";
}

sub last_words { my ($self) = @_; (delete $self->{process})->finish; chomp(my $log = $self->log); return $log }

sub log { return -e $_[0]{log} ? slurp_file($_[0]{log}) : '' }

sub ask { my ($self, @statements) = @_; return $self->{node}->safe_psql($self->{database}, join ';', @statements) }

sub rows { my ($self, $columns, $order) = @_; return $self->ask(qq{SELECT $columns FROM "$self->{name}" ORDER BY $order}) }

1;
