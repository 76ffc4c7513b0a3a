#!/usr/bin/env bash
# Version:  npm protobufjs 8.8.1, @bufbuild/protobuf 2.17.0
# Behavior: if the JSON form of a Protobuf message contains the text of a UUID in a field of type bytes, both
#           libraries read it as base64: it has 36 characters, a multiple of four, and a hyphen is a digit of
#           base64url. The field then contains 27 bytes instead of 16, and its JSON form has plus signs.
# Output:   27 bytes, 01987654+3210+7abc+8def+0123456789ab, with both libraries
# Guess:    an error, since the text of a UUID is not base64
set -euo pipefail

command -v npm >/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm; } &>/dev/null || exit 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo '{"dependencies": {"protobufjs": "8.8.1", "@bufbuild/protobuf": "2.17.0"}}' >package.json
npm install --silent --no-audit --no-fund >/dev/null || exit 2

cat >read.js <<'EOS'
const protobuf = require('protobufjs');
const { fromJson, toJson } = require('@bufbuild/protobuf');
const { BytesValueSchema } = require('@bufbuild/protobuf/wkt');

const id = '01987654-3210-7abc-8def-0123456789ab';
const Row = protobuf.parse('syntax = "proto3"; message Row { bytes id = 1; }').root.lookupType('Row');
const row = Row.fromObject({ id });
console.log(`protobufjs: ${row.id.length} bytes, ${Row.toObject(row, { bytes: String }).id}`);
const value = fromJson(BytesValueSchema, id);
console.log(`@bufbuild/protobuf: ${value.value.length} bytes, ${toJson(BytesValueSchema, value)}`);
EOS
node read.js | tee output
diff output - <<'EOS'
protobufjs: 27 bytes, 01987654+3210+7abc+8def+0123456789ab
@bufbuild/protobuf: 27 bytes, 01987654+3210+7abc+8def+0123456789ab
EOS
