# examples/copy_table.py, with the copy on another server
package consumers::copy_table;
use ServerTest;
require consumers::program;

use parent -norequire, 'consumers::program';

sub table { return 'item' }

sub other { my ($self) = @_; return $self->{target}{other} ||= $self->{world}{servers}->other }

sub arguments { my ($self, $source) = @_; return ($source, 'public.item', $self->other->connstr('copies')) }

sub drain { my ($self) = @_; return IPC::Run::run([ 'timeout', 120, @{ $self->command('--once') } ], '<', \undef, '>>', "$self->{target}{log}.out", '2>&1') }

sub differs
{
	my ($self, $rows) = @_;

	$self->{target}{rows} = { map { /^(.*?)\|(.*)\|(.*)/ ? ($1 => "$2 $3") : () } split /\n/, $self->other->safe_psql('copies', 'SELECT id, n, t FROM item') };
	return $self->copies_differ($rows);
}

1;
