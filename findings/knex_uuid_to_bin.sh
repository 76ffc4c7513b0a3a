#!/usr/bin/env bash
# Version:  npm knex 3.3.0, uuid 11.1.0
# Behavior: fn.uuidToBin(id) of knex exchanges the parts of a UUID like UUID_TO_BIN(id, 1) of MySQL, but
#           UUID_TO_BIN(id) of MySQL does not. The exchange sorts v1 keys by time. In v7 keys, it moves 12 bits
#           below the millisecond to the front, so that the keys have no order.
# Output:   7abc-3210-01987654-8def-0123456789ab for 01987654-3210-7abc-8def-0123456789ab
#           1000 v7 keys ascend: true as text, false as bytes of uuidToBin(id)
# Guess:    the 16 bytes in the order of the text
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies": {"knex": "3.3.0", "uuid": "11.1.0"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

cat >order.js <<'EOS'
const { fn } = require('knex')({ client: 'mysql' });
const { v7 } = require('uuid');

const id = '01987654-3210-7abc-8def-0123456789ab';
const hex = fn.uuidToBin(id).toString('hex').replace(/^(....)(....)(........)(....)/, '$1-$2-$3-$4-');
console.log(`${hex} for ${id}`);
const ascend = (texts) => texts.every((text, n) => n === 0 || texts[n - 1] < text);
const ids = Array.from({ length: 1000 }, () => v7());
const bytes = ids.map((id) => fn.uuidToBin(id).toString('hex'));
console.log(`1000 v7 keys ascend: ${ascend(ids)} as text, ${ascend(bytes)} as bytes of uuidToBin(id)`);
EOS
node order.js | tee output
diff output - <<'EOS'
7abc-3210-01987654-8def-0123456789ab for 01987654-3210-7abc-8def-0123456789ab
1000 v7 keys ascend: true as text, false as bytes of uuidToBin(id)
EOS
