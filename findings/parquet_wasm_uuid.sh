#!/usr/bin/env bash
# Version:  npm parquet-wasm 0.8.0, @duckdb/node-api 1.5.6-r.1
# Behavior: parquet-wasm drops the annotation UUID when it reads a Parquet file and writes it again. DuckDB then
#           reads the 16 bytes as BLOB. The condition id = '...' compares them with the 36 bytes of the text, so
#           it finds no row, and raises no error.
# Output:   before: UUID, 1 row found; after: BLOB, 0 rows found
# Guess:    UUID and 1 row in both files
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies": {"parquet-wasm": "0.8.0", "@duckdb/node-api": "1.5.6-r.1"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

cat >copy.js <<'EOS'
const fs = require('fs');
const { readParquet, writeParquet } = require('parquet-wasm');
const { DuckDBInstance } = require('@duckdb/node-api');

(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	const id = '01987654-3210-7abc-8def-0123456789ab';
	const found = async (file) => {
		const [[type]] = (await db.runAndReadAll(`SELECT column_type FROM (DESCRIBE FROM '${file}')`)).getRows();
		const [[count]] = (await db.runAndReadAll(`SELECT count(*) FROM '${file}' WHERE id = '${id}'`)).getRows();
		return `${type}, ${count} row${count === 1n ? '' : 's'} found`;
	};
	await db.run(`COPY (SELECT '${id}'::uuid AS id) TO 'before.parquet'`);
	fs.writeFileSync('after.parquet', writeParquet(readParquet(fs.readFileSync('before.parquet'))));
	console.log(`before: ${await found('before.parquet')}`);
	console.log(`after: ${await found('after.parquet')}`);
})();
EOS
node copy.js | tee output
diff output - <<'EOS'
before: UUID, 1 row found
after: BLOB, 0 rows found
EOS
