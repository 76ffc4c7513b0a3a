# Copies of a table by examples/changes/copy_table.py.
#
#	track($node, $table, @variables)		run track.sql, and return its output
#	my $copy = Copies->new($source, $table)			a copy in SQLite
#	my $copy = Copies->new($source, $table, $node)	a copy in the new database "copies" of a server
#	... ->new($source, $table, $node, 'other')		a copy in an existing database
#	$copy->run('--once')					run the program, and return what it prints
#	$copy->start; $copy->kill; $copy->stop	run it in the background
#	$copy->wait_for_rows($count)			wait until the copy has some rows
#	$copy->last_words						wait until the program ends, and return what it printed
#	$copy->rows($columns, $order)			return the rows of the copy
#	$copy->change(@statements)				change the copy
#	differences($rows, $others)				return the first lines that differ, or an empty text
package Copies;
use strict;
use warnings;

use Exporter 'import';
use FindBin;
use IPC::Run ();
use PostgreSQL::Test::Utils;

our @EXPORT = qw(differences track);

my $python = '/usr/bin/python3';
my $count = 0;

sub can_copy { return system("$python -c 'import psycopg, sqlite3' 2>/dev/null") == 0 }

sub track
{
	my ($node, $table, @variables) = @_;
	my $out = '';

	IPC::Run::run([ 'psql', '-X', '-d', $node->connstr('postgres'), (map { ('-v', $_) } "table=$table", @variables), '-f', "$FindBin::Bin/examples/changes/track.sql" ],
		'>', \$out, '2>&1');
	return $out;
}

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
	my $file = PostgreSQL::Test::Utils::tempdir() . '/copy' . ++$count;
	my $self = bless { source => $source, table => $table, name => $table =~ s/.*\.//r, kind => $node ? 'PostgreSQL' : 'SQLite', node => $node, database => $database || 'copies', file => $file }, $class;

	$node->safe_psql('postgres', 'CREATE DATABASE copies') if $node && !$database;
	$self->{target} = $node ? $node->connstr($self->{database}) : "sqlite:$file";
	return $self;
}

sub command { my ($self, @options) = @_; return [ $python, "$FindBin::Bin/examples/changes/copy_table.py", @options, @$self{qw(source table target)} ] }

sub run
{
	my ($self, @options) = @_;
	my $out = '';

	IPC::Run::run([ 'timeout', '120', @{ $self->command(@options) } ], '<', \undef, '>&', \$out) or $out .= "exit status $?\n";
	return $out;
}

sub start { my ($self) = @_; $self->{process} = IPC::Run::start($self->command, '<', \undef, '>>', "$self->{file}.log", '2>>', "$self->{file}.log"); return }

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
	die "the copy in $self->{kind} does not have $count rows";
}

sub last_words { my ($self) = @_; (delete $self->{process})->finish; chomp(my $log = $self->log); return $log }

sub log { return -e "$_[0]{file}.log" ? slurp_file("$_[0]{file}.log") : '' }

# Return the result of a query in SQLite, in which NULL is an empty text.
my $select = q{
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
for statement in sys.argv[2:]:
    for row in connection.execute(statement):
        print("|".join("" if value is None else str(value) for value in row))
};

sub ask
{
	my ($self, @statements) = @_;
	my $out = '';

	return $self->{node}->safe_psql($self->{database}, join ';', @statements) if $self->{node};
	local $ENV{PYTHONIOENCODING} = 'utf-8';
	IPC::Run::run([ $python, '-c', $select, $self->{file}, @statements ], '<', \undef, '>', \$out) or die 'SQLite failed';
	chomp $out;
	return $out;
}

sub change { my ($self, @statements) = @_; $self->ask(@statements); return }

sub rows
{
	my ($self, $columns, $order) = @_;

	return $self->ask(qq{SELECT $columns FROM "$self->{name}" ORDER BY } . ($self->{node} ? $order =~ s/\bkind\b/kind COLLATE "C"/r : $order));
}

1;
