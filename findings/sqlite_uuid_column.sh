#!/usr/bin/env bash
# Version:  SQLite 3.40.1 (Debian 12's package sqlite3)
# Behavior: a column of type UUID, GUID or BINARY(16) has the affinity NUMERIC. If the 32 digits of a UUID without
#           hyphens read as a decimal number, with or without an exponent, SQLite stores a floating-point number.
#           More than one of a million v4 UUIDs reads so. All those with large exponents become infinity.
# Output:   text|4a98765432104123876543210987654a, real|9.87654321071432e+31, real|Inf, and for another UUID that
#           becomes infinity: UNIQUE constraint failed
# Guess:    four rows of text
set -euo pipefail

command -v sqlite3 >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends sqlite3; } &>/dev/null || exit 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

sqlite3 ids.db 'CREATE TABLE device (id UUID PRIMARY KEY)'
for id in 4a987654-3210-4123-8765-43210987654a 98765432-1071-4321-8765-432109876543 \
	98765432-10e4-4123-8123-456789012345 12345678-90e4-4223-8123-456789012345; do
	sqlite3 ids.db "INSERT INTO device VALUES ('${id//-/}')" 2>&1 | grep -o 'UNIQUE constraint failed' || true
done | tee output
sqlite3 ids.db 'SELECT typeof(id), id FROM device ORDER BY rowid' | tee -a output
diff output - <<'EOS'
UNIQUE constraint failed
text|4a98765432104123876543210987654a
real|9.87654321071432e+31
real|Inf
EOS
