// Read tab-separated lines from scripts/lab/judges: v7, key, and public ID.  Compute the public ID
// with Node's crypto.  Fail if a result differs.
import { createCipheriv } from "node:crypto";
import { createInterface } from "node:readline";

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

let lines = 0;
let differ = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const [id, key, publicId] = line.split("\t");
	lines++;
	if (encrypt(id, key) === publicId) continue;
	if (differ++ < 10) console.log("differs:", id, publicId);
}
console.log(`${lines} public IDs, ${differ} differ`);
if (lines === 0 || differ > 0) process.exitCode = 1;
