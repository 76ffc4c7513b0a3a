# Test pg_upgrade from each earlier PostgreSQL on this machine that has the extension.
# UPGRADE_FROM, which scripts/test sets, names the folders of these installations, such as
# /usr/lib/postgresql/15.
use ServerTest;
use File::Copy qw(copy);
use Rooms;
use Shop;

my @from = split ' ', $ENV{UPGRADE_FROM} || '';
plan skip_all => 'no earlier PostgreSQL with the extension is on this machine' unless @from;

my $bindir = qx(pg_config --bindir);
chomp $bindir;
my $conf = "timezone = 'UTC'\nshared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\n";
# Since PostgreSQL 17, the array type of a domain is a member of the extension too, so leave
# it out.
my $members = q{SELECT string_agg(identity, E'\n' ORDER BY identity COLLATE "C") FROM pg_depend, pg_identify_object(classid, objid, 0)
	WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'uuid9562') AND deptype = 'e' AND identity <> 'public.uuidv7_period[]'};
# A query that returns the function that the default of table "unqualified" calls.  The
# default is written as uuidv7(), a name that PostgreSQL 18 has too.
my $default = q{SELECT pronamespace::regnamespace || '.' || proname FROM pg_attrdef
	JOIN pg_depend ON pg_depend.classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid AND refclassid = 'pg_proc'::regclass
	JOIN pg_proc ON pg_proc.oid = refobjid
	WHERE adrelid = 'unqualified'::regclass};

# Return an old and a new server.  Both have checksums, since the default differs between
# versions.
sub two_servers
{
	my ($name, $prefix) = @_;
	my @servers = (PostgreSQL::Test::Cluster->new("old$name", install_path => $prefix), PostgreSQL::Test::Cluster->new("new$name"));

	$_->init(extra => ['--data-checksums']) foreach @servers;
	$_->append_conf('postgresql.conf', $conf) foreach @servers;
	$servers[0]->start;
	return @servers;
}

# Run pg_upgrade, and return whether it succeeds.  Use a temporary working directory, since
# pg_upgrade leaves a script there.
sub pg_upgrade
{
	my ($old, $new, $prefix) = @_;

	chdir PostgreSQL::Test::Utils::tempdir() or die $!;
	return run_log([ 'pg_upgrade', '--no-sync', '--link', '--old-datadir', $old->data_dir, '--new-datadir', $new->data_dir,
		'--old-bindir', "$prefix/bin", '--new-bindir', $bindir, '--socketdir', $new->host,
		'--old-port', $old->port, '--new-port', $new->port ]);
}

foreach my $prefix (@from)
{
	# even without the extension, pg_upgrade can fail if the new server is an older minor release
	my ($old, $new) = two_servers('_plain', $prefix);
	my $how = 'from ' . (split /\./, $old->pg_version)[0];
	$old->safe_psql('postgres', 'CREATE TABLE plain (n int); CREATE TABLE parts (n int) PARTITION BY RANGE (n)');
	$old->stop;
	unless (pg_upgrade($old, $new, $prefix))
	{
	  SKIP: { skip "pg_upgrade $how cannot upgrade tables without the extension either", 1 }
		next;
	}

	($old, $new) = two_servers('', $prefix);
	Shop::create($old, 'shop');
	my @rooms = Rooms::create($old);
	my %room_members = map { $_->{name} => Rooms::members($old, $_) } @rooms;
	$old->safe_psql('shop', q{
		SET search_path = public, pg_catalog;
		CREATE TABLE unqualified (id uuid DEFAULT uuidv7());
		ALTER DATABASE shop SET uuid9562.v7_method = 'counter';
		ALTER DATABASE shop SET uuid9562.node_id = 3;
		INSERT INTO unqualified DEFAULT VALUES;
		CREATE TABLE ordered (id uuid DEFAULT uuidv7_ordered());
		-- an ID ahead of the clock of the new server
		INSERT INTO ordered VALUES (public.uuidv7_at(clock_timestamp() + '1 h'));
		CREATE TABLE outbox (id uuid DEFAULT public.uuidv7_ordered(), n int);
		SELECT public.uuid_generator_advance(public.uuidv7_at(clock_timestamp() + '30 min'));
		INSERT INTO outbox (n) VALUES (1), (2);
		INSERT INTO customers DEFAULT VALUES;
		REFRESH MATERIALIZED VIEW months});
	my $answers = Shop::answers($old, 'shop');
	my $made_of = $old->safe_psql('shop', $members);
	my $position = $old->safe_psql('shop', 'SELECT public.uuidv7_position(id, NULL) FROM outbox WHERE id < public.uuidv7_horizon() AND n = 1');
	$old->stop;

	ok(pg_upgrade($old, $new, $prefix), "$how: pg_upgrade succeeds");

	# copy the generator state, as the manual says
	copy($old->data_dir . '/global/9562', $new->data_dir . '/global/9562') or die $!;
	$new->start;
	is($new->safe_psql('shop', "INSERT INTO outbox (n) VALUES (3); SELECT n FROM outbox WHERE id > public.uuidv7_after('$position') AND id < public.uuidv7_horizon() ORDER BY id"),
		"2\n3", "$how: with the copied generator state, a reader continues");
	$new->restart;
	is($new->safe_psql('shop', 'INSERT INTO outbox (n) VALUES (4); SELECT string_agg(n::text, $$ $$ ORDER BY id) FROM outbox'), '1 2 3 4', "$how: with the copied generator state, IDs stay in order");
	$new->stop;
	unlink $new->data_dir . '/global/9562' or die $!;

	# without the generator state
	$new->start;
	is(Shop::answers($new, 'shop'), $answers, "$how: the queries return the same results");
	is($new->safe_psql('shop', $members), $made_of, "$how: the extension has the same members");
	is($new->safe_psql('shop', $default), 'public.uuidv7', "$how: a default written as uuidv7() is still the extension's");
	is($new->safe_psql('shop', 'SHOW uuid9562.v7_method; SHOW uuid9562.node_id'),
		"counter\n3", "$how: the database keeps its settings");
	like($new->safe_psql('shop', q{ANALYZE; EXPLAIN (COSTS OFF) SELECT FROM visits WHERE id <@ '[2026-05-05,2026-05-06)'}),
		qr/\AIndex Only Scan using visits_2026_05_pkey on visits_2026_05 visits\n  Index Cond: .*\z/s, "$how: a period finds its partition and its index");
	my $insert = q{INSERT INTO ordered DEFAULT VALUES RETURNING id > ALL (SELECT id FROM ordered)};
	is($new->safe_psql('shop', $insert), 'f', "$how: the ordered generators of the new server start at the clock");
	is($new->safe_psql('shop', "SELECT public.uuid_generator_advance(public.max(id)) FROM ordered; $insert"),
		"\nt", "$how: after an advance a new ID is greater than the existing IDs");
	foreach my $room (@rooms)
	{
		is(Rooms::members($new, $room), $room_members{ $room->{name} }, "$how, $room->{name}: the extensions have the same objects");
		Rooms::works($new, $room, "$how, $room->{name}");
	}
	is($new->safe_psql('shop', q{DROP EXTENSION uuid9562 CASCADE; CREATE EXTENSION uuid9562; SELECT count(*) FROM visits WHERE id <@ '[2026-05-05,2026-05-06)'}),
		'24', "$how: the extension can be dropped and created again");
	$new->stop;
	chdir $FindBin::Bin;
	$_->clean_node foreach $old, $new;
}

done_testing();
