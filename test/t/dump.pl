# Dump and restore of databases with one or both extensions, in any schema, by a superuser and by a
# database owner who is none.
use ServerTest;
use Rooms;

my $node = new_server('dump', "timezone = 'UTC'\nshared_preload_libraries = 'uuid9562'\n");
my $folder = PostgreSQL::Test::Utils::tempdir();

foreach my $room (Rooms::create($node))
{
	my $name = $room->{name};
	my $members = Rooms::members($node, $room);
	my $restored = { %$room, name => "restored_$name", forgotten => $room->{role} eq 'lessee' };

	$node->safe_psql('postgres', qq{CREATE DATABASE $restored->{name} OWNER "$room->{role}"});
	$node->command_ok([ 'pg_dump', '-U', $room->{role}, '--format=custom', "--file=$folder/$name", $name ], "$name: the dump succeeds");
	IPC::Run::run([ 'pg_restore', '-U', $room->{role}, '-h', $node->host, '-p', $node->port, "--dbname=$restored->{name}", "$folder/$name" ], '2>', \my $err);
	# only a superuser can restore the catalog of tracked tables
	is(join("\n", $err =~ /ERROR:  (.*)/g), $room->{both} && $restored->{forgotten} ? 'permission denied for table changes_catalog' : '',
		"$name: the dump is restored") or diag($err);
	is(Rooms::members($node, $restored), $members, "$name: the extensions have the same objects");
	Rooms::works($node, $restored, $name);
}
$node->stop;
done_testing();
