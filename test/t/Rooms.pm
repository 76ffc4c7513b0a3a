# Databases with uuid9562 alone and with both extensions, in the schema public and in a schema that is
# not in the search path, created by a superuser and by a database owner who is none.
#
#	my @rooms = Rooms::create($node);
#	Rooms::works($node, $_, $name) foreach @rooms;
#
# A room has the name of its database, its role, its schema, and whether it has both extensions.  The server
# preloads the library.
package Rooms;
use ServerTest;

# Create the databases, and return them.  Each has tables, a view and an index that use uuid9562.  If
# there are both extensions, a reader has copied a tracked table.
sub create
{
	my ($node) = @_;
	my @rooms;

	$node->safe_psql('postgres', 'CREATE ROLE lessee LOGIN');
	foreach my $role ('lessee', $node->safe_psql('postgres', 'SELECT current_user'))
	{
		foreach my $schema ('public', 'ids')
		{
			foreach my $both (0, 1)
			{
				my $room = { role => $role, schema => $schema, both => $both,
					name => join('_', $role eq 'lessee' ? 'owner' : 'superuser', $schema, $both ? 'both' : 'alone') };

				$node->safe_psql('postgres', qq{CREATE DATABASE $room->{name} OWNER "$role"});
				run_in($node, $room, $schema eq 'public' ? () : "CREATE SCHEMA $schema", "CREATE EXTENSION uuid9562 SCHEMA $schema", qq{
					CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT $schema.uuidv7_next() CHECK ($schema.uuid_is_v7(id)), item text);
					CREATE INDEX by_time ON orders ($schema.uuidv7_timestamp(id));
					CREATE VIEW march AS SELECT item FROM orders WHERE id OPERATOR($schema.<@) '[2026-03-01 00:00+00,2026-04-01 00:00+00)';
					CREATE TABLE event (id uuid PRIMARY KEY DEFAULT $schema.uuidv7_ordered());
					INSERT INTO orders VALUES ($schema.uuidv7_at('2026-03-05'), 'tea'), ($schema.uuidv7_at('2026-04-05'), 'milk')},
					$both ? ("CREATE EXTENSION uuid9562_changes SCHEMA $schema", 'CREATE TABLE customer (id int PRIMARY KEY, name text)',
						"SELECT $schema.changes_track('customer')", apply($room)) : ());
				push @rooms, $room;
			}
		}
	}
	return @rooms;
}

sub run_in { my ($node, $room, @statements) = @_; return $node->safe_psql($room->{name}, join(";\n", @statements), extra_params => [ '-U', $room->{role} ]) }

sub page { my ($room) = @_; return "SELECT change_type, data FROM $room->{schema}.changes_read('r', NULL::customer)" }

sub apply { my ($room) = @_; return ('BEGIN', page($room), "SELECT $room->{schema}.changes_done('r') IS NOT NULL", 'COMMIT') }

# Return what belongs to the extensions of a database, without types: since PostgreSQL 17, these include
# array types.  pg_upgrade does not keep the owner of an extension.
sub members
{
	my ($node, $room) = @_;

	return $node->safe_psql($room->{name}, q{
		SELECT extname, extversion, extnamespace::regnamespace FROM pg_extension WHERE extname LIKE 'uuid9562%' ORDER BY 1;
		SELECT extname, identity FROM pg_extension AS e JOIN pg_depend ON refobjid = e.oid AND deptype = 'e', pg_identify_object(classid, objid, 0)
		WHERE extname LIKE 'uuid9562%' AND type <> 'type' ORDER BY 1, identity COLLATE "C";
		SELECT count(*) FROM pg_namespace WHERE nspname = 'uuid9562_changes'});
}

# Check that a restored or upgraded database works.  Its readers get "reset".
sub works
{
	my ($node, $room, $name) = @_;
	my $schema = $room->{schema};

	is(run_in($node, $room, 'INSERT INTO orders (item) VALUES (\'new\')', 'INSERT INTO event DEFAULT VALUES', 'INSERT INTO event DEFAULT VALUES',
			'SELECT string_agg(item, \' \' ORDER BY id) FROM orders', 'SELECT item FROM march', "SELECT count(*) FROM event WHERE $schema.uuid_is_v7(id)"),
		"tea milk new\ntea\n2", "$name: defaults, a constraint and a view work");
	like(run_in($node, $room, 'SET enable_seqscan = off', "EXPLAIN (COSTS OFF) SELECT item FROM orders WHERE id OPERATOR($schema.<@) '[2026-03-01 00:00+00,2026-04-01 00:00+00)'"),
		qr/Index Cond: /, "$name: a time query uses the index");
	return unless $room->{both};
	is(run_in($node, $room, apply($room), q{INSERT INTO customer VALUES (1, 'Ann')}, page($room), "SELECT waits_for FROM $schema.changes_readers"),
		"reset|\nt\nupsert|(1,Ann)\nconfirmation", "$name: the table is tracked, and its changes are read");
	return;
}

1;
