# examples/outbox_reader.py
package consumers::outbox_reader;
use ServerTest;
use JSON::PP;
use Time::HiRes qw(sleep);
require consumers::program;

use parent -norequire, 'consumers::program';

sub table { return 'outbox' }

sub arguments { my ($self, $source) = @_; return ($source, "$self->{target}{log}.position") }

# Wait until the program has printed a last message.
sub drain
{
	my ($self) = @_;

	my $end = 'the end ' . ++$self->{target}{ends};

	$self->{world}->rows("INSERT INTO outbox (message) VALUES ('$end')");
	for (1 .. 300) { $self->step; return 1 if slurp_file("$self->{target}{log}.out") =~ /$end"/ }
	return 0;
}

sub differs
{
	my ($self, $rows) = @_;
	# a program that was killed leaves a part of a line
	my %got = map { my $row = decode_json($_); ($row->{id} => $row->{message}) } slurp_file("$self->{target}{log}.out") =~ /(\{"id": "[^"{]*", "message": "[^"{]*"\})/g;

	foreach (sort keys %$rows) { return ('lost', "message $_ ($rows->{$_}) is not printed") unless defined $got{$_} }
	return;
}

1;
