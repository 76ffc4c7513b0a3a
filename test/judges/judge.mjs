// Read tab-separated lines from scripts/judges: v7, key, public ID, and public ID in base58.
// Compute the public ID with Node's crypto, and its base58 text with bs58 and short-uuid.
// Fail if a result differs.
import { createCipheriv } from "node:crypto";
import { createInterface } from "node:readline";
import bs58 from "bs58";
import short from "short-uuid";

// The Feistel network as the manual specifies it.
const half = 61n;
const mask = (bits) => (1n << bits) - 1n;
const ciphers = new Map();
const roundFunction = (key, round, right) => {
	if (!ciphers.has(key)) ciphers.set(key, createCipheriv("aes-256-ecb", Buffer.from(key, "hex"), null).setAutoPadding(false));
	const block = Buffer.alloc(16);
	block.writeBigUInt64BE(BigInt(round), 0);
	block.writeBigUInt64BE(right, 8);
	return ciphers.get(key).update(block).readBigUInt64BE(0) & mask(half);
};
const encrypt = (id, key) => {
	const number = BigInt("0x" + id.replaceAll("-", ""));
	const payload = (number >> 80n) << 74n | ((number >> 64n) & mask(12n)) << 62n | (number & mask(62n));
	let [left, right] = [payload >> half, payload & mask(half)];
	for (let round = 0; round < 10; round++) [left, right] = [right, left ^ roundFunction(key, round, right)];
	const result = left << half | right;
	return ((result >> 74n) << 80n | 4n << 76n | ((result >> 62n) & mask(12n)) << 64n | 2n << 62n | (result & mask(62n)))
		.toString(16).padStart(32, "0").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};

// bs58 writes a "1" for each leading zero byte.  The extension pads with "1" to 22
// characters, so remove the leading "1" and pad in the same way.
const padded = (uuid) => bs58.encode(Buffer.from(uuid.replaceAll("-", ""), "hex")).replace(/^1+/, "").padStart(22, "1");
const translator = short("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz");

let lines = 0;
let differ = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const [id, key, publicId, base58] = line.split("\t");
	lines++;
	if (encrypt(id, key) === publicId && padded(publicId) === base58 && translator.fromUUID(publicId) === base58) continue;
	if (differ++ < 10) console.log("differs:", id, publicId, base58);
}
console.log(`${lines} public IDs, ${differ} differ`);
if (lines === 0 || differ > 0) process.exitCode = 1;
