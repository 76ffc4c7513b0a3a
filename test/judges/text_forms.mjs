// Read tab-separated lines from scripts/lab/judges: a UUID, and its texts in the formats below.
// Fail if another library writes another text, or reads the text as another UUID.  Print the
// texts of the libraries as tab-separated lines, for the extension to read: UUID, format,
// text.
import { createInterface } from "node:readline";
import baseX from "base-x";
import bs58 from "bs58";
import short from "short-uuid";
import { TypeID } from "typeid-js";
import { ulidToUUID, uuidToULID } from "ulid";

const formats = ["ulid", "base58", "base58flickr", "base62", "base64url", "typeid"];
const alphabet58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const alphabet62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base62 = baseX(alphabet62);
const shortDefault = short();
const short58 = short(alphabet58);
const short62 = short(alphabet62);
const bytes = (uuid) => Buffer.from(uuid.replaceAll("-", ""), "hex");
const uuidOf = (buffer) => buffer.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

// bs58 and base-x write a zero digit for each leading zero byte, and read it as such a byte.
// The extension pads to 22 digits.
const padded = (text, zero) => text.replace(new RegExp(`^${zero}+`), "").padStart(22, zero);
const last16 = (array) => uuidOf(Buffer.from(array).subarray(-16));

// [library, format, write, pad, read]
const same = (text) => text;
const judges = [
	["ulid", "ulid", uuidToULID, same, (text) => ulidToUUID(text).toLowerCase()],
	["bs58", "base58", (id) => bs58.encode(bytes(id)), (text) => padded(text, "1"), (text) => last16(bs58.decode(text))],
	["short-uuid", "base58", short58.fromUUID, same, short58.toUUID],
	["short-uuid", "base58flickr", shortDefault.fromUUID, same, shortDefault.toUUID],
	["base-x", "base62", (id) => base62.encode(bytes(id)), (text) => padded(text, "0"), (text) => last16(base62.decode(text))],
	["short-uuid", "base62", short62.fromUUID, same, short62.toUUID],
	["Node", "base64url", (id) => bytes(id).toString("base64url"), same, (text) => uuidOf(Buffer.from(text, "base64url"))],
	["typeid-js", "typeid", (id) => TypeID.fromUUID("order_line", id).toString(), same, (text) => last16(TypeID.fromString(text).toUUIDBytes())],
];

let lines = 0;
let differ = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const [id, ...texts] = line.split("\t");
	let output = "";
	lines++;
	for (const [library, format, write, pad, read] of judges) {
		const text = texts[formats.indexOf(format)];
		const theirs = write(id);
		output += `${id}\t${format}\t${theirs}\n`;
		if (pad(theirs) === text && read(text) === id) continue;
		if (differ++ < 10) console.error("differs:", library, format, id, text, theirs, read(text));
	}
	process.stdout.write(output);
}
console.error(`${lines} UUIDs and ${judges.length} libraries, ${differ} texts differ`);
if (lines === 0 || differ > 0) process.exitCode = 1;
