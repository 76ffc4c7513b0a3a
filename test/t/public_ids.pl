# Tests of the privileges on the functions of public IDs: for a database owner who is not a
# superuser, and for a web role that uses a view and a look-up, also after dump and restore.
use ServerTest;

my $folder = PostgreSQL::Test::Utils::tempdir();
PostgreSQL::Test::Utils::append_to_file("$folder/keys", join '', map { "$_ orders = " . '0123456789abcdef' x 4 . "\n$_ parts = " . 'fedcba9876543210' x 4 . "\n" } qw(shop restored));
chmod 0600, "$folder/keys";

my $node = new_server('public_ids', "uuid9562.key_file = '$folder/keys'");
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE web LOGIN; CREATE DATABASE shop OWNER owner');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# Run SQL as a role; return its output and errors.
sub as
{
	my ($role, $sql, $database) = @_;
	my ($status, $out, $err) = $node->psql($database || 'shop', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', $role ], on_error_stop => 0);
	return wantarray ? ($out, $err) : $out;
}

# --- the owner of the database --------------------------------------------------

my ($out, $err) = as('owner', q{CREATE EXTENSION uuid9562;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7_next(), customer name, item text);
	INSERT INTO orders (customer, item) SELECT 'web', 'item ' || n FROM generate_series(1, 10000) AS n;
	INSERT INTO orders (customer, item) VALUES ('another', 'secret');
	ANALYZE orders});
is($err, '', 'the owner of a database creates the extension');
my $denied = qr/ERROR:  42501: permission denied for function/;
foreach my $call ("uuidv7_encrypt(public.uuidv7(), 'orders')", "uuidv7_decrypt(gen_random_uuid(), 'orders')")
{
	($out, $err) = as('owner', "SELECT public.$call");
	like($err, $denied, "the owner of a database may not call $call");
	my ($function) = $call =~ /^(\w+)/;
	($out, $err) = as('owner', "GRANT EXECUTE ON FUNCTION public.$function(uuid, text) TO owner; SELECT public.$call");
	like($err, $denied, "the owner of a database may not grant $function()");
	($out, $err) = as('owner', "ALTER FUNCTION public.$function(uuid, text) SECURITY DEFINER; ALTER FUNCTION public.$function(uuid, text) OWNER TO owner");
	like($err, qr/ERROR:  42501: must be owner of function.*ERROR:  42501: must be owner of function/s, "the owner of a database may not change $function()");
}
($out, $err) = as('owner', q{CREATE FUNCTION mine(uuid, text) RETURNS uuid LANGUAGE c STABLE STRICT AS '$libdir/uuid9562', 'uuid9562_uuidv7_decrypt'});
like($err, qr/ERROR:  42501: permission denied for language c/, 'the owner of a database may not create another function from the library');

# --- a web role, by view and by look-up -----------------------------------------

($out, $err) = as($superuser, 'GRANT EXECUTE ON FUNCTION public.uuidv7_encrypt(uuid, text) TO web; GRANT EXECUTE ON FUNCTION public.uuidv7_decrypt(uuid, text) TO owner');
is($err, '', 'a superuser grants encryption to the web role and decryption to the owner');
($out, $err) = as('owner', q{
	CREATE VIEW public_orders AS SELECT public.uuidv7_encrypt(id, 'orders') AS public_id, item FROM orders WHERE customer = current_user;
	CREATE FUNCTION find_order(public_id uuid) RETURNS TABLE (public_id uuid, item text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
	BEGIN ATOMIC
		SELECT find_order.public_id, o.item FROM orders AS o
		WHERE o.id = public.uuidv7_decrypt(find_order.public_id, 'orders') AND o.customer = session_user;
	END;
	GRANT SELECT ON public_orders TO web;
	REVOKE EXECUTE ON FUNCTION find_order(uuid) FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION find_order(uuid) TO web});
is($err, '', 'the owner creates a view and a look-up');
($out, $err) = as('owner', 'SELECT public_id FROM public_orders');
like($err, $denied, 'the view does not let its owner encrypt');
is(as('web', "SELECT count(*), count(DISTINCT public_id), bool_and(public.uuid_extract_version(public_id) = 4) FROM public_orders"), '10000|10000|t',
	'the web role reads public IDs through the view');
is(as('web', "SELECT f.item FROM (SELECT * FROM public_orders WHERE item = 'item 77') AS v, find_order(v.public_id) AS f"), 'item 77', 'the web role finds a row by its public ID');
my $secret = as($superuser, "SELECT public.uuidv7_encrypt(id, 'orders') FROM orders WHERE item = 'secret'");
like($secret, qr/^\w{8}-/, 'another customer has an order');
is(as('web', "SELECT count(*) FROM find_order('$secret')"), '0', 'the look-up does not return the order of another customer');
foreach my $statement ('SELECT id FROM orders', "SELECT public.uuidv7_decrypt(public_id, 'orders') FROM public_orders",
	"SELECT public.uuidv7_decrypt('$secret', 'orders')")
{
	($out, $err) = as('web', $statement);
	like($err, qr/ERROR:  42501: permission denied for (?:table|function)/, "the web role may not: $statement");
}

# A function that inserts a row, as doc/public-ids.md describes it
($out, $err) = as('owner', q{
	CREATE TABLE parcel (order_id uuid REFERENCES orders DEFERRABLE INITIALLY DEFERRED);
	CREATE FUNCTION send(wanted uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
	BEGIN
		INSERT INTO parcel VALUES (public.uuidv7_decrypt(wanted, 'orders'));
		SET CONSTRAINTS ALL IMMEDIATE;
	EXCEPTION WHEN integrity_constraint_violation THEN
		RAISE 'there is no such order';
	END$$});
is($err, '', 'the owner creates a function that inserts a row');
($out, $err) = as('web', "SELECT send('c5e39d79-7ddd-4f5a-a2b8-1d2f3b4c5d6e')");
like($err, qr/there is no such order/, 'the function raises its own error for a deferred constraint');
unlike($err, qr/-7\w{3}-/, 'and the error does not show the decrypted ID');
($out, $err) = as('web', "SELECT send('$secret')");
is($err, '', 'the function accepts a public ID that exists');

like(as('web', "SELECT public.uuidv7_encrypt('01a2027b-d9c0-771c-9de0-6b9bb85af70d', 'parts')"), qr/^\w{8}-/, 'EXECUTE covers every key of the database');

# the plans of the look-up and of the view
my $generic = "SET plan_cache_mode = force_generic_plan; PREPARE p(uuid) AS %s; EXPLAIN (COSTS OFF) EXECUTE p('$secret')";
like(as($superuser, sprintf $generic, q{SELECT item FROM orders WHERE id = public.uuidv7_decrypt($1, 'orders')}),
	qr/^Index Scan using orders_pkey on orders\n  Index Cond: \(id = (?:public\.)?uuidv7_decrypt\(\$1, 'orders'::text\)\)$/, 'the look-up uses the primary key');
like(as($superuser, sprintf $generic, 'SELECT item FROM public_orders WHERE public_id = $1'), qr/^Seq Scan on orders/, 'a condition on the view does not use the primary key');

# --- dump and restore -----------------------------------------------------------

$node->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/dump", 'shop' ], 'pg_dump succeeds');
$node->safe_psql('postgres', 'CREATE DATABASE restored OWNER owner');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', "$folder/dump" ], 'pg_restore succeeds');
my $rights = q{SELECT r, p, has_function_privilege(r, 'public.' || p || '(uuid, text)', 'EXECUTE')
	FROM unnest('{public,web,owner}'::text[]) AS r, unnest('{uuidv7_encrypt,uuidv7_decrypt}'::text[]) AS p ORDER BY 1, 2};
is(as($superuser, $rights), "owner|uuidv7_decrypt|t\nowner|uuidv7_encrypt|f\npublic|uuidv7_decrypt|f\npublic|uuidv7_encrypt|f\nweb|uuidv7_decrypt|f\nweb|uuidv7_encrypt|t",
	'each role has its privileges');
is(as($superuser, $rights, 'restored'), as($superuser, $rights), 'a dump and restore keeps the privileges');
my $ids = 'SELECT md5(string_agg(public_id::text, $$ $$ ORDER BY item)) FROM public_orders';
is(as('web', $ids, 'restored'), as('web', $ids), 'a dump and restore keeps the public IDs if the new database has the same key');

# --- default privileges -----------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE granted');
($out, $err) = as($superuser, 'ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO web; CREATE EXTENSION uuid9562', 'granted');
is($err, '', 'a superuser creates the extension with default privileges for the web role');
is(as($superuser, $rights, 'granted'), "owner|uuidv7_decrypt|f\nowner|uuidv7_encrypt|f\npublic|uuidv7_decrypt|f\npublic|uuidv7_encrypt|f\nweb|uuidv7_decrypt|t\nweb|uuidv7_encrypt|t",
	'default privileges of the superuser include the functions');

$node->stop;
done_testing();
