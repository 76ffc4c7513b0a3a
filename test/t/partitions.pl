# The blocks of doc/partitions.md that add partitions, that drop a month of a tracked table, and that move
# rows out of the DEFAULT partition.
use ServerTest;
use Sessions;

my $page = slurp_file("$FindBin::Bin/doc/partitions.md");
my ($create) = $page =~ /^(CREATE TABLE visit \(.*?)^```/ms or die 'the page has no table';
my ($drop) = $page =~ /^(BEGIN ISOLATION LEVEL READ COMMITTED;\nDO.*?^COMMIT;)/ms or die 'the page has no block that drops a month';
my ($add) = $page =~ /^(DO \$\$\nDECLARE\n    unit .*?^END \$\$;)/ms or die 'the page has no block that adds partitions';
my ($move) = $page =~ /^(BEGIN;\nALTER TABLE visit DETACH.*?^COMMIT;)/ms or die 'the page has no block that moves rows';
my $unread = qr/ERROR:.*changes of visit_2026_10 have not been read/;

# no background worker purges, so that changes_purge() has an effect at once
my $node = use_server(new_server('partitions', "shared_preload_libraries = 'uuid9562'\nuuid9562.purge_worker = off\n"));
sql('CREATE EXTENSION uuid9562_changes CASCADE', $create, q{SELECT changes_track('visit', dropped_partitions => 'ignore')},
	q{CREATE TABLE visit_2026_11 PARTITION OF visit FOR VALUES FROM (uuidv7_floor('2026-11-01 00:00+00')) TO (uuidv7_floor('2026-12-01 00:00+00'))},
	q{INSERT INTO visit VALUES (uuidv7_at('2026-10-15'), 'first')});

my $position;
sub changes
{
	(my $page, $position) = split /;/, sql(q{SELECT concat_ws(' ', change_type, (data).page) || ';' || change_position FROM changes_read('copy', NULL::visit)});
	return $page;
}
sub confirm { return sql("SELECT changes_done('copy', '$position')") }
sub visit { my ($day, $page) = @_; return "INSERT INTO visit VALUES (uuidv7_at('$day'), '$page')" }
sub months { return sql(q{SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'visit'::regclass}) }

# --- add partitions of days ---------------------------------------------------------

$add =~ s/'month'/'day'/ && $add =~ s/'YYYY_MM'/'YYYY_MM_DD'/ && $add =~ s/visit/daily/g or die 'the block does not name its parameters';
sql((split /;\n/, $create)[0] =~ s/visit/daily/gr, $add, $add, 'INSERT INTO daily (page) VALUES ($$today$$)');
is(sql(q{SELECT count(*), count(*) FILTER (WHERE relid = ('daily_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM_DD'))::regclass) FROM pg_partition_tree('daily') WHERE isleaf}),
	'13|1', 'the block adds partitions of days, also repeatedly');

# --- drop a month -------------------------------------------------------------------

is(changes(), 'reset', 'the reader copies the table');
confirm();
sql(visit('2026-10-16', 'second'));
like(refusal($drop), $unread, 'a month with an unread change is not dropped');
is(changes(), 'upsert second', 'the reader gets the change');
like(refusal($drop), $unread, 'a month with a change that is not confirmed is not dropped');
confirm();

# a writer that commits while the block waits, in a session with another default of the isolation level
{
	my ($writer, $dropping) = (session(), session());

	in($writer, 'BEGIN', visit('2026-10-17', 'third'));
	in($dropping, 'SET default_transaction_isolation = serializable');
	$dropping->{stdin} .= ($drop =~ s/'1s'/'1min'/r) . "\n";
	$dropping->{run}->pump_nb;
	$node->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)') or die 'the block does not wait';
	in($writer, 'COMMIT');
	$dropping->query('SELECT 1');
	like($dropping->{stderr}, $unread, 'a month with a change of a transaction that was in progress is not dropped');
	$dropping->{stderr} = '';
	leave($writer, $dropping);
}
is(changes(), 'upsert third', 'the reader gets this change');
confirm();
sql(visit('2026-11-15', 'other'));
is(refusal($drop), '', 'a month is dropped after its changes were confirmed, whatever waits of other months');
is(months(), 'visit_2026_11', 'the other month stays');
is(changes(), 'upsert other', 'the reader does not get the dropped rows as deleted');

# --- move rows out of the DEFAULT partition -----------------------------------------

sql('ALTER TABLE visit DROP CONSTRAINT visit_id_check', 'CREATE TABLE visit_rest PARTITION OF visit DEFAULT', visit('2028-01-01 00:00+00', 'begin'), visit('2028-01-31 23:59:59.999+00', 'end'), visit('2028-02-01 00:00+00', 'after'),
	q{INSERT INTO visit VALUES (overlay(uuidv7_at('2028-01-15')::text PLACING '4' FROM 15)::uuid, 'v4')});
like(refusal($move =~ /(CREATE TABLE.*?;)/s ? $1 : die), qr/updated partition constraint for default partition "visit_rest" would be violated/, 'the partition cannot be created beside its rows');
sql($move);
is(sql(q{SELECT string_agg(tableoid::regclass || ' ' || page, ', ' ORDER BY id) FROM visit WHERE id >= uuidv7_floor('2028-01-01 00:00+00')}),
	'visit_2028_01 begin, visit_2028_01 v4, visit_2028_01 end, visit_rest after', 'the rows of the month are in its partition, also one with a v4 ID');

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the server has not crashed');
$node->stop;
done_testing();
