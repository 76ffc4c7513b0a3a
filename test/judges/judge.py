"""Python's uuid module on what the extension says of UUIDs.

Reads tab-separated lines of scripts/judges from standard input, and ends with an
error where the two differ.

    name       namespace, name, v3, v5
    inspect    uuid, version or nothing, variant, clock_seq or nothing, node or nothing
    time       uuid of version 1 or 6, microseconds since 1970
"""
import collections
import sys
import uuid

VARIANTS = {
    uuid.RESERVED_NCS: "ncs",
    uuid.RFC_4122: "rfc9562",
    uuid.RESERVED_MICROSOFT: "microsoft",
    uuid.RESERVED_FUTURE: "reserved",
}
GREGORIAN = 0x01B21DD213814000  # 100 ns from 1582-10-15 to 1970-01-01

judged = collections.Counter()
differences = 0


def gregorian(given):
    """The 60-bit time of a v1 or v6, which Python reads by v1's layout only."""
    if given.version == 1:
        return given.time
    number = given.int
    return (number >> 80) << 12 | (number >> 64) & 0xFFF


for line in sys.stdin:
    what, *fields = line.rstrip("\n").split("\t")
    if what == "name":
        space, name = uuid.UUID(fields[0]), fields[1]
        expected = [str(uuid.uuid3(space, name)), str(uuid.uuid5(space, name))]
        given = fields[2:]
    elif what == "inspect":
        value = uuid.UUID(fields[0])
        version = value.version
        expected = ["" if version is None else str(version), VARIANTS[value.variant]]
        if version in (1, 6):
            node = "%012x" % value.node
            expected += [str(value.clock_seq), ":".join(node[i : i + 2] for i in range(0, 12, 2))]
        else:
            expected += ["", ""]
        given = fields[1:]
    else:
        expected = [str((gregorian(uuid.UUID(fields[0])) - GREGORIAN) // 10)]
        given = fields[1:]
    judged[what] += 1
    if given != expected:
        differences += 1
        if differences <= 10:
            print("differs:", line.rstrip("\n"), "Python:", expected)

for what, count in sorted(judged.items()):
    print("%s: %d judged by Python's uuid" % (what, count))
if differences or any(judged[what] == 0 for what in ("name", "inspect", "time")):
    sys.exit("%d differ" % differences)
