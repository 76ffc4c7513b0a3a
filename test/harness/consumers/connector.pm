# Tools that poll the views of doc/connectors.md, with the queries that they send.  Each tool has a view, the
# columns of its cursor, their first values, and a condition.
package consumers::connector;
use strict;
use warnings;

use parent 'Consumer';

my $nil = '00000000-0000-0000-0000-000000000000';
my @tools = (
	[ 'Kafka Connect, incrementing', 'numbered', [ ordinal => -1 ], 'ordinal > %s ORDER BY ordinal' ],
	[ 'Logstash', 'numbered', [ ordinal => -1 ], 'ordinal > %s ORDER BY ordinal LIMIT 50 OFFSET 0' ],
	[ 'Airbyte, again', 'numbered', [ ordinal => -1 ], 'ordinal >= %s ORDER BY ordinal' ],
	[ 'dlt', 'settled', [ id => $nil ], q{id >= '%s'} ],
	[ 'dbt', 'numbered', [ ordinal => -1 ], 'ordinal > %s' ],
	[ 'Singer', 'numbered', [ ordinal => -1 ], 'ordinal >= %s ORDER BY ordinal LIMIT 50' ]);

sub table { return 'event' }

# Poll with one tool.  At the end, poll with all of them.
sub read
{
	my ($self) = @_;
	my ($name, $view, $cursor, $condition) = @{ $tools[ $self->{turn}++ % @tools ] };
	my @columns = @$cursor[ grep { $_ % 2 == 0 } 0 .. $#$cursor ];
	my $state = $self->{target}{$name} ||= { last => [ @$cursor[ grep { $_ % 2 } 0 .. $#$cursor ] ], got => {} };

	return $self->ask('SELECT ' . join(', ', @columns, 'id') . " FROM event_$view WHERE " . sprintf($condition, @{ $state->{last} }), sub {
		my @sorted = sort { @columns > 1 || $columns[0] eq 'id' ? "@$a" cmp "@$b" : $a->[0] <=> $b->[0] } @_;
		my $before = keys %{ $state->{got} };

		$state->{got}{ $_->[-1] } = 1 foreach @_;
		$state->{last} = [ @{ $sorted[-1] }[ 0 .. $#columns ] ] if @sorted;
		# count as empty only if all tools have got nothing new
		$self->{quiet} = keys %{ $state->{got} } > $before ? 0 : ($self->{quiet} // 0) + 1;
		$self->{is_empty} = $self->{quiet} >= @tools;
		$self->{said} = "$name reads " . @_ . ' rows';
	});
}

sub differs
{
	my ($self, $rows) = @_;

	foreach my $tool (map { $_->[0] } @tools)
	{
		foreach (sort keys %$rows) { return ('lost', "row $_ does not come to $tool") if !$self->{target}{$tool}{got}{$_} }
	}
	return;
}

1;
