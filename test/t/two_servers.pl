# Two servers that replicate a table in both directions, as doc/servers.md shows: while the second one joins,
# clients write to the first one, and afterwards to both.
use ServerTest;

my $page = slurp_file("$FindBin::Bin/doc/servers.md");
my ($create) = $page =~ /^(CREATE TABLE message .*?^CREATE PUBLICATION .*?;)$/ms or die 'the page has no table';
my %subscribe = map { /^CREATE SUBSCRIPTION (\w+)/ => $_ } $page =~ /^(CREATE SUBSCRIPTION .*?;)$/msg;
my %node;

plan skip_all => 'subscriptions have no parameter "origin" before PostgreSQL 16' if qx(pg_config --version) =~ /^PostgreSQL 15/;
foreach my $name (qw(first second))
{
	$node{$name} = new_server($name, '', allows_streaming => 'logical');
	$node{$name}->safe_psql('postgres', 'CREATE DATABASE shop');
	$node{$name}->safe_psql('shop', "CREATE EXTENSION uuid9562; $create");
}
sub insert { my ($name, $body) = @_; $node{$name}->safe_psql('shop', "INSERT INTO message (body) VALUES ('$body')"); return }
sub subscribe
{
	my ($subscriber, $publisher) = @_;
	my $address = 'host=' . $node{$publisher}->host . ' port=' . $node{$publisher}->port;
	my ($status, $out, $err) = $node{$subscriber}->psql('shop', $subscribe{"from_$publisher"} =~ s/host=other/$address/r);

	like($err, qr/^\S* ?NOTICE:  created replication slot "from_$publisher" on publisher$/, "the $subscriber server subscribes to the $publisher one");
	return;
}

insert('first', 'before');
subscribe('second', 'first');
insert('first', 'between');
$node{second}->poll_query_until('shop', 'SELECT count(*) = 2 FROM message') or die 'the second server does not copy the rows';
subscribe('first', 'second');
insert($_, "$_ server") foreach qw(first second);
$node{first}->safe_psql('shop', q{UPDATE message SET body = body || ', updated' WHERE body = 'before'});
$node{second}->safe_psql('shop', q{DELETE FROM message WHERE body = 'between'});
foreach my $name (qw(first second))
{
	ok($node{$name}->poll_query_until('shop', q{SELECT string_agg(body, '; ' ORDER BY body) = 'before, updated; first server; second server' FROM message}),
		"the $name server gets each change")
	  or diag($node{$name}->safe_psql('shop', 'SELECT * FROM message'));
	unlike(slurp_file($node{$name}->logfile), qr/duplicate key|TRAP|PANIC/, "and no row twice on the $name server");
}
$_->stop foreach $node{first}, $node{second};
done_testing();
