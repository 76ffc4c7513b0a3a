# Compare the fields that the extension and Python's uuid module read from random UUIDs, and
# the name-based UUIDs that they compute.
use ServerTest;

plan skip_all => 'there is no Python' if system('python3 -c "import uuid" 2>/dev/null') != 0;

my $judge = q{
import sys, uuid
variants = {uuid.RESERVED_NCS: "ncs", uuid.RFC_4122: "rfc9562",
            uuid.RESERVED_MICROSOFT: "microsoft", uuid.RESERVED_FUTURE: "reserved"}
differ = {"names": 0, "variant and version": 0, "clock sequence and node": 0, "timestamp": 0}
for line in sys.stdin:
    id, name, v3, v5, variant, version, clock_seq, node, micros = line.rstrip("\n").split("\t")
    u = uuid.UUID(id)
    differ["names"] += [v3, v5] != [str(uuid.uuid3(u, name)), str(uuid.uuid5(u, name))]
    differ["variant and version"] += [variant, version] != [variants[u.variant], str(u.version or "")]
    # Python versions differ in how they read the time of v6, so compute it here
    time = u.time if u.version == 1 else (u.int >> 80) << 12 | u.int >> 64 & 0xfff
    has_node, time = u.version in (1, 6), (time - 0x01b21dd213814000) // 10
    differ["clock sequence and node"] += [clock_seq, node.replace(":", "")] != ([str(u.clock_seq), "%012x" % u.node] if has_node else ["", ""])
    differ["timestamp"] += has_node and micros != str(time)
print(*["%s: %d" % count for count in differ.items()], sep="\n")
};

my $node = new_server('python', '', extra => [ '-E', 'UTF8' ]);
my $values = $node->safe_psql('postgres', q{
	CREATE EXTENSION uuid9562;
	COPY (SELECT id, name, public.uuidv3(id, name), public.uuidv5(id, name), variant, version, clock_seq, node,
				 CASE WHEN version IN (1, 6) THEN (extract(epoch FROM timestamp) * 1000000)::bigint END
		  FROM (SELECT md5(n::text) || chr(n % 5000 + 161) AS name,
					   overlay(md5(n::text) PLACING substr('168', n % 3 + 1, 1) FROM 13)::uuid AS id
				FROM generate_series(1, 100000) AS n) AS given, public.uuid_inspect(id)) TO STDOUT (NULL '')});
$node->stop;

my $differ = '';
IPC::Run::run([ 'python3', '-c', $judge ], '<', \"$values\n", '>', \$differ) or die 'Python failed';
is(scalar(split /\n/, $values), 100000, 'there are 100,000 UUIDs to compare');
foreach my $what ('names', 'variant and version', 'clock sequence and node', 'timestamp')
{
	like($differ, qr/^$what: 0$/m, "Python finds the same $what");
}
done_testing();
