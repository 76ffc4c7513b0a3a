// Write IDs of npm packages to test/t/migrating, one file for each package:
//
//	node other_ids.mjs FOLDER [NAME...]
//
// The packages must be installed beside this file.  The n-th ID of a file is generated at the
// time time_of(n), or from the UUID uuid_of(n).  The header of each file tells its test what to
// expect: the type of the column, and how exact the time is.  "sorted" means that the IDs sort by
// time, "in text" that only their text does.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const [folder, ...names] = process.argv.slice(2);

// The clock that the packages see.  Packages look at it when they are loaded, so load them later.
const RealDate = Date;
let now;
globalThis.Date = class extends RealDate {
	constructor(...given) { super(...(given.length ? given : [now])); }
	static now() { return now; }
};

// Four IDs are generated at a time, from 2021-06-01 to 2026-11-19.
const start = 1622505600000;
const step = (count) => 345600123 * 2000 / count;
const time_of = (n, count) => start + Math.floor(n / 4) * step(count);
const uuid_of = (n) => createHash("md5").update(String(n)).digest("hex")
	.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

// file: [argument of uuid_from_id(), package, call, type of the column, what the values contain, number of IDs, function that returns a generator]
const other = {
	"xid-js": ["xid-js", "xid-js", "next()", "text", "time to 1 s, sorted", 2000, () => require("xid-js").next],
	"tsid-ts": ["tsid", "tsid-ts", "getTsid().toString()", "text", "time to 1 ms, sorted", 2000, () => { const { getTsid } = require("tsid-ts"); return () => getTsid().toString(); }],
	"tsid-ts-number": ["tsid-bigint", "tsid-ts", "getTsid().toBigInt()", "bigint", "time to 1 ms, sorted", 100, () => { const { getTsid } = require("tsid-ts"); return () => getTsid().toBigInt(); }],
	"ksuid": ["ksuid", "ksuid", "randomSync().string", "text", "time to 1 s, sorted", 2000, () => { const ksuid = require("ksuid"); return () => ksuid.randomSync().string; }],
	"cuid": ["cuid", "cuid", "cuid()", "text", "time to 1 ms, sorted", 2000, () => require("cuid")],
	"sonyflake": ["sonyflake-npm", "sonyflake", "new Sonyflake().nextId()", "numeric", "time to 1 ms, sorted", 2000, () => { const { Sonyflake } = require("sonyflake"); const s = new Sonyflake(); return () => s.nextId(); }],
	"ordered-uuid": ["", "ordered-uuid", "generate()", "text", "time to 1 ms, sorted", 2000, () => require("ordered-uuid").generate],
	"bugsnag-cuid": ["cuid", "@bugsnag/cuid", "cuid()", "text", "time to 1 ms, sorted", 100, () => require("@bugsnag/cuid")],
	"xid-ts": ["xid", "xid-ts", "new Xid().toString()", "text", "time to 1 s, sorted", 100, () => { const { Xid } = require("xid-ts"); return () => new Xid().toString(); }],
	"scru128": ["scru128", "scru128", "scru128String()", "text", "time to 1 ms, sorted", 100, () => require("scru128").scru128String],
	"firebase": ["firebase", "firebase", "push(ref(getDatabase(), 'a')).key", "text", "time to 1 ms, sorted", 100, () => {
		const database = require("firebase/database");
		const db = database.getDatabase(require("firebase/app").initializeApp({ databaseURL: "http://127.0.0.1:1?ns=a" }));
		database.goOffline(db);
		return () => database.push(database.ref(db, "a")).key;
	}],
	"node-appwrite": ["appwrite", "node-appwrite", "ID.unique()", "text", "time to 1 ms, sorted", 100, () => require("node-appwrite").ID.unique],
	"short-unique-id": ["short-unique-id", "short-unique-id", "new ShortUniqueId().stamp(24)", "text", "time to 1 s", 100, () => { const s = new (require("short-unique-id"))(); return () => s.stamp(24); }],
	"bson": ["objectid", "bson", "new ObjectId()", "text", "time to 1 s, sorted", 100, async () => { const { ObjectId } = await import("bson"); return () => new ObjectId().toHexString(); }],
	"ulid": ["ulid", "ulid", "ulid()", "text", "time to 1 ms, sorted", 100, async () => (await import("ulid")).ulid],
	"ulid-monotonic": ["ulid", "ulid", "monotonicFactory()()", "text", "time to 1 ms, sorted", 100, async () => { const f = (await import("ulid")).monotonicFactory(); return () => f(); }],
	"discord": ["discord", "@sapphire/snowflake", "DiscordSnowflake.generate()", "bigint", "time to 1 ms, sorted", 100, () => { const { DiscordSnowflake } = require("@sapphire/snowflake"); return () => DiscordSnowflake.generate(); }],
	"twitter": ["twitter", "@sapphire/snowflake", "TwitterSnowflake.generate()", "bigint", "time to 1 ms, sorted", 100, () => { const { TwitterSnowflake } = require("@sapphire/snowflake"); return () => TwitterSnowflake.generate(); }],
	"snowflake-id": ["snowflake", "snowflake-id", "new SnowflakeId().generate()", "bigint", "time to 1 ms, sorted", 100, () => { const S = require("snowflake-id"); const s = new (S.default ?? S)(); return () => s.generate(); }],
	"flake-idgen": ["snowflake", "flake-idgen", "new FlakeId().next().readBigInt64BE()", "bigint", "time to 1 ms, sorted", 100, () => { const s = new (require("flake-idgen"))(); return () => s.next().readBigInt64BE(); }],
	"skorotkiewicz-snowflake-id": ["snowflake", "@skorotkiewicz/snowflake-id", "new Snowflake(1).generate()", "bigint", "time to 1 ms, sorted", 100, () => { const s = new (require("@skorotkiewicz/snowflake-id").Snowflake)(1); return () => s.generate(); }],
	"simple-flakeid": ["simple-flakeid", "simple-flakeid", "new SnowflakeIdv1({ workerId: 1 }).NextBigId()", "bigint", "time to 1 ms, sorted", 100, () => { const s = new (require("simple-flakeid").SnowflakeIdv1)({ workerId: 1 }); return () => s.NextBigId(); }],
	"nocobase-snowflake-id": ["nocobase", "@nocobase/snowflake-id", "new Snowflake().generate()", "bigint", "time to 1 s, sorted", 100, () => { const s = new (require("@nocobase/snowflake-id").Snowflake)(); return () => s.generate(); }],
	"uuid-int": ["uuid-int", "uuid-int", "UUID(1).uuid()", "bigint", "time to 1 s, sorted", 100, () => { const s = require("uuid-int")(1); return () => s.uuid(); }],
	"id128-uuid6": ["id128-v6", "id128", "Uuid6.generate().toCanonical()", "uuid", "time to 1 ms", 100, () => { const { Uuid6 } = require("id128"); return () => Uuid6.generate().toCanonical(); }],
	"id128-uuid1": ["id128-v1", "id128", "Uuid1.generate().toCanonical()", "uuid", "time to 1 ms", 100, () => { const { Uuid1 } = require("id128"); return () => Uuid1.generate().toCanonical(); }],
	"uuid-1345": ["uuid-1345", "uuid-1345", "v1()", "uuid", "time to 1 ms", 100, () => { const { v1 } = require("uuid-1345"); return () => v1(); }],
	"uuid-with-v6": ["uuid-with-v6", "uuid-with-v6", "v6()", "uuid", "time to 1 ms", 100, () => { const { v6 } = require("uuid-with-v6"); return () => v6(); }],
	"cassandra-driver": ["Cassandra", "cassandra-driver", "TimeUuid.now()", "uuid", "time to 1 ms", 100, () => { const { TimeUuid } = require("cassandra-driver").types; return () => TimeUuid.now(); }],
	"binary-uuid": ["", "binary-uuid", "createBinaryUUID().buffer", "bytea", "time to 1 ms, sorted", 100, () => { const { createBinaryUUID } = require("binary-uuid"); return () => hex(createBinaryUUID().buffer); }],
};

// Some generators continue after the last time of the process, so each file has a process of its own.
const wanted = (name) => names.includes(name);
if (!names.length)
	for (const name of [...Object.keys(other), "clickhouse"]) execFileSync(process.execPath, [import.meta.filename, folder, name], { stdio: "inherit" });
function write(name, made, type, contents, ids) {
	writeFileSync(join(folder, `${name}.tsv`), `# ${made}\n# ${type}, ${contents}\n${ids.map((id) => id + "\n").join("")}`);
}

for (const [name, [argument, npm, call, type, contents, count, load]] of Object.entries(other)) {
	if (!wanted(name)) continue;
	now = start;
	const generate = await load();
	const ids = [];
	for (let n = 0; n < count; n++) {
		now = time_of(n, count);
		ids.push(String(await generate()));
	}
	const made = `${npm} ${version(npm)}`;
	write(name, `${argument ? `${argument} (${made})` : made}: ${call}`, type, contents.replace("time", `every ${step(count)} ms, time`), ids);
}

// ClickHouse runs in the package chdb.
if (wanted("clickhouse")) {
	const formats = { "clickhouse-rowbinary": ["RowBinary", 2000], "clickhouse-native": ["Native", 100], "clickhouse-msgpack": ["MsgPack", 100] };
	const { query } = require("chdb");
	const clickhouse = `ClickHouse ${query("SELECT version()", "TSV").match(/^\d+\.\d+/)[0]}`;
	const chdb = `in chdb ${version("chdb")}`;
	const out = mkdtempSync(join(tmpdir(), "chdb"));
	// Return the bytes of the file to which ClickHouse writes UUIDs in a format.
	const bytes_of = (format, count) => {
		const file = join(out, format);
		const values = Array.from({ length: count }, (_, n) => `'${uuid_of(n)}'`).join();
		query(`SELECT toUUID(arrayJoin([${values}])) AS id INTO OUTFILE '${file}' TRUNCATE FORMAT ${format} SETTINGS output_format_parquet_compression_method = 'none'`, "TSV");
		return readFileSync(file);
	};
	// Return the values of 16 bytes that follow each other at the given distance.
	const split = (bytes, from, distance, count) => Array.from({ length: count }, (_, n) => hex(bytes.subarray(from + n * distance, from + n * distance + 16)));
	// Native and RowBinary have columns of 16 bytes, after a header; MsgPack has three bytes before each value.
	for (const [name, [format, count]] of Object.entries(formats)) {
		const bytes = bytes_of(format, count);
		const distance = format === "MsgPack" ? bytes.length / count : 16;
		write(name, `${clickhouse} ${format}: ${chdb}`, "bytea", "UUID", split(bytes, bytes.length - count * distance + distance - 16, distance, count));
	}
	// a document for each row: size, type 5, "id", size, subtype, bytes, 0
	const bson = bytes_of("BSONEachRow", 100);
	write("clickhouse-bson", `${clickhouse} BSON: FORMAT BSONEachRow ${chdb}`, "bytea", "UUID", split(bson, bson.length / 100 - 17, bson.length / 100, 100));
	// the values follow each other
	const parquet = bytes_of("Parquet", 100);
	const first = parquet.indexOf(Buffer.from(uuid_of(0).replaceAll("-", ""), "hex"));
	write("clickhouse-parquet", `${clickhouse} Parquet: ${chdb}`, "bytea", "UUID", split(parquet, first, 16, 100));
	// ClickHouse reads the clock of the machine, so its own function tells the time.
	const rows = query("SELECT generateSnowflakeID() AS id, toUnixTimestamp64Milli(snowflakeIDToDateTime64(id)) FROM numbers(100)", "TSV").trim().split("\n");
	write("clickhouse-snowflake", `snowflake (${clickhouse}): generateSnowflakeID() ${chdb}`, "bigint", "time in the second column to 1 ms, sorted", rows);
	rmSync(out, { recursive: true });
}
process.exit(0);	// some packages keep timers
