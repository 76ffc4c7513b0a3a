# A superuser creates the files of the folder managed as extensions, in a schema where another role has
# created operators, functions and types with the same names as PostgreSQL's.  The extensions use none of
# these objects, neither while they are created nor afterwards.
#
# A role that is not a superuser installs the files, and uses the functions in a table and a view.
use ServerTest;

my $node = new_server('managed', "timezone = 'UTC'");
$node->safe_psql('postgres', 'CREATE ROLE planter LOGIN; CREATE DATABASE clean; CREATE DATABASE planted; CREATE DATABASE owned OWNER planter');
$node->safe_psql('planted', 'GRANT CREATE ON SCHEMA public TO planter');

my @files = map { "$FindBin::Bin/managed/$_.sql" } 'uuid9562', 'uuid9562_changes';
my $managed = join '', map { slurp_file($_) } @files;

# Make one script of those of the extensions, as the manual does.
my $script = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
system_or_bail('sh', '-c', "cd '$FindBin::Bin' && sed -f managed/extension.sed managed/uuid9562.sql managed/uuid9562_changes.sql | sed 's/\@extschema\@/public/g' >'$script'");
unlike(slurp_file($script), qr/^[^-]*uuid9562_changes[.]/m, 'the script has no name of a schema');

# Run the script with the search path of CREATE EXTENSION ... SCHEMA public.
sub install
{
	my ($database, $role) = @_;

	return $node->psql($database, "SET search_path = public, pg_temp;\n\\i $script\n", extra_params => $role ? [ '-U', $role ] : []);
}

my ($status, $out, $err) = install('clean');
is($status, 0, 'the extension can be created in an empty schema') or diag($err);
my $comments = q{SELECT md5(string_agg(p.oid || obj_description(p.oid, 'pg_proc'), ' ' ORDER BY p.oid)) FROM pg_proc AS p WHERE pronamespace = 'pg_catalog'::regnamespace};
is($node->safe_psql('clean', $comments), $node->safe_psql('postgres', $comments), 'the comments of the functions of PostgreSQL have not changed');
($status, $out, $err) = install('owned', 'planter');
is($status, 0, 'a role that is not a superuser can create the extension') or diag($err);
my @own = split /\n/, $node->safe_psql('clean', q{SELECT proname || '(' || oidvectortypes(proargtypes) || ')' FROM pg_proc WHERE pronamespace = 'public'::regnamespace});
cmp_ok(scalar(@own), '>', 20, 'the extension has functions');

# --- planting -------------------------------------------------------------------

# Return all lists of $count elements, each of which is one of the given elements.
sub lists
{
	my ($count, @elements) = @_;

	return [] if $count == 0;
	return map { my $list = $_; map { [ @$list, $_ ] } @elements } lists($count - 1, @elements);
}

my @types = ('smallint', 'integer', 'bigint', 'numeric', 'double precision', 'text', 'character varying', 'bytea', 'bit', 'boolean', 'uuid',
	'timestamp without time zone', 'timestamp with time zone', 'interval', 'tstzrange', 'anyelement');
my %arguments = (
	1 => [ lists(1, @types) ],
	2 => [ lists(2, @types) ],
	3 => [ lists(3, 'text', 'character varying', 'integer', 'bigint', 'anyelement') ],
	6 => [ lists(6, 'text') ],
	map { $_ => [ lists($_, 'text', 'integer', 'anyelement') ] } 4, 5);
my %words = map { $_ => 1 } $managed =~ /\w+|[-+*\/<>=~!@#%^&|?]+/g;
my $trap = "LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END';\n";
my %planted = map { $_ => 1 } @own;
my $plants = '';

foreach my $type (grep { $words{$_} } split /\n/, $node->safe_psql('clean', q{SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r')}))
{
	$plants .= "CREATE DOMAIN public.\"$type\" AS pg_catalog.\"$type\" CHECK (false);\n";
}
# 100 stands for a variadic function
foreach my $function (split /\n/, $node->safe_psql('clean', q{SELECT DISTINCT proname, CASE WHEN provariadic = 0 THEN pronargs ELSE 100 END FROM pg_proc WHERE prokind = 'f'}))
{
	my ($name, $count) = split /\|/, $function;

	next unless $words{$name};
	foreach my $arguments (map { @{ $arguments{$_} || [] } } $count == 100 ? 1 .. 6 : $count)
	{
		my $signature = "$name(" . join(', ', @$arguments) . ')';
		$plants .= "CREATE FUNCTION public.\"$name\"(" . join(', ', @$arguments) . ") RETURNS boolean $trap" unless $planted{$signature}++;
	}
}
my @operators = grep { $words{$_} } split /\n/, $node->safe_psql('clean', 'SELECT DISTINCT oprname FROM pg_operator');
my $springs = 0;
foreach my $arguments (@{ $arguments{1} }, @{ $arguments{2} })
{
	my ($right, $left) = reverse @$arguments;

	$springs++;
	$plants .= "CREATE FUNCTION public.spring_$springs(" . join(', ', @$arguments) . ") RETURNS boolean $trap";
	foreach my $operator (grep { defined $left || /^[-+~@|!]/ } @operators)
	{
		next if !defined $left && $operator !~ /^[-+~@|!#?\/&%]+$/;
		$plants .= "CREATE OPERATOR public.$operator (" . (defined $left ? "LEFTARG = $left, " : '') . "RIGHTARG = $right, FUNCTION = public.spring_$springs);\n";
	}
}
# functions and operators that match calls of the functions for changes better than their own
$plants .= "CREATE FUNCTION public.$_ RETURNS boolean $trap" foreach 'quote_ident(name)', 'pg_has_role(regrole, text)', 'has_table_privilege(regclass, text)',
  'changes_find(regclass)', 'changes_key(regclass)', 'changes_look(text, regclass, text)', 'changes_begin(text, regclass, integer, text, interval)', 'changes_is_planned(regclass, timestamptz)',
  'changes_check_owner(regclass)', 'changes_find_reader(text, regclass)', 'changes_drop(regclass)', 'changes_delete(regclass, interval, integer)',
  'changes_publish(regclass)', 'changes_purge(regclass, text, integer)';
foreach my $type ('regclass', 'regrole')
{
	$plants .= "CREATE FUNCTION public.spring_$type(a $type, b $type) RETURNS boolean $trap"
	  . "CREATE OPERATOR public.= (LEFTARG = $type, RIGHTARG = $type, FUNCTION = public.spring_$type);\n";
}
my $plants_file = PostgreSQL::Test::Utils::tempdir() . '/plants.sql';
PostgreSQL::Test::Utils::append_to_file($plants_file, "SET check_function_bodies = off;\n$plants");
note(($plants =~ tr/\n//) . ' objects are planted');
($status, $out, $err) = $node->psql('planted', "\\i $plants_file", extra_params => [ '-U', 'planter' ]);
is($status, 0, 'a role that is not a superuser plants operators, functions and types') or diag($err);
is($node->safe_psql('planted', q{SET search_path = pg_catalog; SELECT count(*) FROM pg_operator WHERE oprowner = 'planter'::regrole AND (oprname, oprleft, oprright) IN
	(('*', 'bigint'::regtype, 'interval'::regtype), ('%', 'bigint'::regtype, 'integer'::regtype), ('*', 'integer'::regtype, 'interval'::regtype),
	 ('*', 'numeric'::regtype, 'integer'::regtype))}), '4', 'the operators that captured calls of earlier scripts are planted');

# --- the extension --------------------------------------------------------------

($status, $out, $err) = install('planted');
is($status, 0, 'the extension can be created beside them, and calls none of them') or diag($err);

# a query that returns the objects of other roles that depend on an object of role planter
my $captured = q{
	SET search_path = pg_catalog;
	SELECT pg_describe_object(classid, objid, objsubid) || ' uses ' || pg_describe_object(refclassid, refobjid, refobjsubid)
	FROM pg_depend
	WHERE refobjid IN (SELECT oid FROM pg_proc WHERE proowner = 'planter'::regrole
					   UNION ALL SELECT oid FROM pg_operator WHERE oprowner = 'planter'::regrole
					   UNION ALL SELECT oid FROM pg_type WHERE typowner = 'planter'::regrole)
		  AND objid IN (SELECT oid FROM pg_proc WHERE proowner <> 'planter'::regrole
						UNION ALL SELECT oid FROM pg_operator WHERE oprowner <> 'planter'::regrole
						UNION ALL SELECT oid FROM pg_type WHERE typowner <> 'planter'::regrole
						UNION ALL SELECT oid FROM pg_rewrite UNION ALL SELECT oid FROM pg_policy UNION ALL SELECT oid FROM pg_attrdef)
	ORDER BY 1};
is($node->safe_psql('planted', $captured), '', 'no function, operator or type of the extension depends on a planted one');

# PostgreSQL parses a body that is a string only when it executes the function.  So the search
# path of such a function must not contain the schema of the extension.
is($node->safe_psql('planted', q{SET search_path = pg_catalog; SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang
	WHERE proowner <> 'planter'::regrole AND pronamespace = 'public'::regnamespace AND prokind = 'f'
		  AND NOT (lanname = 'sql' AND prosqlbody IS NOT NULL) AND (proconfig @> '{"search_path=pg_catalog, pg_temp"}') IS NOT TRUE}), '',
	'each function is parsed when it is created, or sets its own search path');

# Each function returns the same as without the planted objects.  Those for changes are called below.
my %sample = (uuid => '01a2027b-dc23-7cc4-94d1-c5a6203e5be8', bytea => '\x0102', text => 'NLTHQeo13HycraoNDcWvF1', 'timestamp with time zone' => '2026-03-01 12:34:56.789012',
	tstzrange => '(2026-01-01,2027-01-01]', uuidv7_period => '(2026-01-01,2027-01-01]');
foreach my $function (grep { !/^changes_/ } @own)
{
	my ($name, $types) = $function =~ /^(\w+)\((.*)\)/;
	my @samples = map { die "no sample of type $_" unless $sample{$_}; "'$sample{$_}'::$_" } split /, /, $types;
	# the type uuidv7_period is in the schema public, all others are PostgreSQL's
	my $call = "public.$name(" . join(', ', map { s/::uuidv7_period/::public.uuidv7_period/r } @samples) . ')';
	my $volatile = "(SELECT provolatile = 'v' FROM pg_proc WHERE oid OPERATOR(pg_catalog.=) 'public.$function'::regprocedure)";
	my @results = map {
		my ($status, $out, $err) = $node->psql($_, "SET search_path = pg_catalog; SELECT CASE WHEN $volatile THEN pg_catalog.left($call\::text, 4) ELSE $call\::text END");
		"$out$err";
	} 'clean', 'planted';

	unlike($results[1], qr/trap/, "$function calls no planted function");
	is($results[1], $results[0], "$function returns the same beside planted functions");
}

my $calls = q{
	SET search_path = pg_catalog;
	CREATE SCHEMA shop;
	CREATE TABLE shop.item (id int PRIMARY KEY, name text);
	SELECT public.changes_track('shop.item'::regclass);
	BEGIN;
	SELECT change_type FROM public.changes_read('r', NULL::shop.item);
	SELECT public.changes_done('r');
	COMMIT;
	INSERT INTO shop.item VALUES (1, 'a'), (2, 'b');
	UPDATE shop.item SET id = 3 WHERE id = 2;
	BEGIN;
	SELECT change_type, data FROM public.changes_read('r', NULL::shop.item);
	SELECT public.changes_done('r');
	COMMIT;
	ALTER TABLE shop.item DROP name;
	INSERT INTO shop.item VALUES (4);
	SELECT change_type FROM public.changes_read('r', NULL::shop.item);
	SELECT change_type FROM public.changes_read('r', NULL::shop.item);
	TRUNCATE shop.item;
	SELECT change_position AS position FROM public.changes_read('r', NULL::shop.item) \gset
	SELECT change_position AS position FROM public.changes_read('r', NULL::shop.item, lease => '1 microsecond') \gset
	SELECT waits_for, entries_waiting, pages_out FROM public.changes_readers;
	SELECT public.changes_done('r', :'position');
	SELECT count(*) FROM public.changes_read('r', NULL::shop.item, after => NULL);
	SELECT change_position AS position FROM public.changes_read('o', NULL::shop.item, after => NULL) \gset
	SELECT count(*) FROM public.changes_read('o', NULL::shop.item, after => :'position');
	SET search_path = public, pg_catalog;
	CALL public.changes_wait('r', 'shop.item'::pg_catalog.regclass, '1 ms');
	SET search_path = pg_catalog;
	SELECT public.changes_forget('o', 'shop.item'::regclass);
	SELECT public.changes_purge('shop.item'::regclass, interval '0');
	SELECT source, problem FROM public.changes_tables;
	SELECT public.changes_reset('shop.item'::regclass);
	SELECT public.changes_untrack('shop.item'::regclass)};
($status, $out, $err) = $node->psql('planted', join('', map { "CREATE FUNCTION public.$_ RETURNS boolean $trap" } 'changes_expire(public.changes_reader, text)', 'changes_guard(public.changes_reader, text)',
	'changes_keep(public.changes_reader, text)', 'changes_is_lost(public.changes_state, public.changes_state, varchar)'), extra_params => [ '-U', 'planter' ]);
is($status, 0, 'a role plants functions with the types of the extension') or diag($err);
my @calls = map { my ($status, $out, $err) = $node->psql($_, $calls, on_error_stop => 0); "$out\n$err" } 'clean', 'planted';
like($calls[0], qr/^upsert\|\(1,a\)\ndelete\|\(2,\)\nupsert\|\(3,b\)$/m, 'changes are read');
unlike($calls[0] =~ s/ERROR:  row type.*//r =~ s/ERROR:  position of reader.*//r, qr/ERROR/, 'the functions for changes work in another schema than uuid9562_changes');
is($calls[1], $calls[0], 'changes are read beside planted functions');

# Show that the tests above can fail.
$node->safe_psql('planted', q{SET search_path = public, pg_temp;
	CREATE FUNCTION careless() RETURNS boolean RETURN 1::bigint * interval '1 hour'});
like($node->safe_psql('planted', $captured), qr/^function public.careless\(\) uses operator public.\*\(bigint,interval\)$/, 'a function with operands of other types would be captured');
($status, $out, $err) = $node->psql('planted', 'SELECT careless()');
like($err, qr/ERROR:  trap/, 'a function with operands of other types calls the planted operator');

# --- an ordinary role ------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE shop OWNER app');

# Run SQL as role app.  Return the output with messages.
sub app
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('shop', $sql, on_error_stop => 0, extra_params => [ '-U', 'app' ]);

	return join "\n", grep { length } $out, $err;
}

is(app(join "\n", map { "\\i $_" } @files), '', 'the owner of a database installs the files');
app(q{ALTER DATABASE shop SET search_path = "$user", public, uuid9562, uuid9562_changes});
is(app(q{
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next() CHECK (uuid_is_v7(id)), item text);
	CREATE INDEX by_time ON orders (uuidv7_timestamp(id));
	CREATE VIEW recent AS SELECT * FROM orders WHERE id <@ tstzrange(now() - interval '1 hour', NULL);
	INSERT INTO orders (item) VALUES ('tea');
	SELECT item FROM recent}), 'tea', 'a default, a constraint, an index and a view use the functions');
like(app(q{INSERT INTO orders VALUES (gen_random_uuid())}), qr/violates check constraint/, 'the constraint rejects a v4');

# --- recipes of the page ----------------------------------------------------------

my $page = slurp_file("$FindBin::Bin/doc/hosted.md");

# The target of a reader has applied a page whose transaction is rolled back.
{
	app(q{CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), message text); SELECT changes_track('outbox')});
	my $copied = app(q{SELECT change_position FROM changes_read('search', NULL::outbox)});
	app(q{INSERT INTO outbox (message) VALUES ('last')});
	my $lost = app("BEGIN; SELECT change_position FROM changes_read('search', NULL::outbox, after => '$copied'); ROLLBACK");
	like($lost, qr/^changes1[.]/, 'a page is read');
	is(app("SELECT change_type FROM changes_read('search', NULL::outbox, after => '$lost')"), 'reset', 'after a rollback of the transaction that has read it, a reader copies the table');
	app(q{SELECT changes_untrack('outbox')});
}

# The block of the page drops the schemas of the files if nothing uses them.
{
	my ($drop) = $page =~ /^(DO \$\$\nDECLARE\n    users .*?^END \$\$;)/ms or die 'the page has no block that drops the schema';
	my $exists = q{SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'uuid9562%'};

	app(q{
		CREATE TABLE generated (id uuid, t timestamptz GENERATED ALWAYS AS (uuidv7_timestamp(id)) STORED);
		CREATE TABLE parted (id uuid) PARTITION BY RANGE (uuidv7_timestamp(id));
		CREATE TABLE customer (id int PRIMARY KEY);
		SELECT changes_track('customer');
		CREATE VIEW lag AS SELECT * FROM changes_readers;
		ALTER SCHEMA uuid9562 RENAME TO uuid9562_file;
		ALTER SCHEMA uuid9562_changes RENAME TO uuid9562_changes_file});
	foreach my $case ([ 'rule _RETURN on view recent', 'DROP VIEW recent' ], [ 'index by_time', 'DROP INDEX by_time' ],
		[ 'default value for column id of table orders', 'ALTER TABLE orders ALTER id DROP DEFAULT' ],
		[ 'constraint orders_id_check on table orders', 'ALTER TABLE orders DROP CONSTRAINT orders_id_check' ],
		[ 'column t of table generated', 'ALTER TABLE generated DROP t' ], [ 'table parted', 'DROP TABLE parted' ],
		[ 'rule _RETURN on view lag', 'DROP VIEW lag' ], [ 'trigger \S+ on table customer', q{SET search_path = public, uuid9562_changes_file; DROP TABLE customer} ])
	{
		my ($object, $remove) = @$case;

		like(app($drop), qr/ERROR:.*the schemas are still used by .*\b$object\b/, "the schemas are not dropped while they are used by $object");
		is(app($exists), 2, 'and stay');
		app($remove);
	}
	is(app("SET client_min_messages = warning;\n$drop"), '', 'the schemas are dropped when nothing uses them');
	is(app($exists), 0, 'and are gone');
	is(app('SELECT item FROM orders'), 'tea', 'the table keeps its rows');
}
$node->stop;
done_testing();
