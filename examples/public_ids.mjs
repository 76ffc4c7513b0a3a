// Encrypt v7 IDs as public IDs, and decrypt public IDs, in an application.
//
// The results are equal to those of uuidv7_encrypt() and uuidv7_decrypt() with the same key, so an
// application can use this module with any PostgreSQL server.  The page doc/public-ids.md describes
// the encryption and the file with the keys.
//
//	import { publicIds } from './public_ids.mjs';
//
//	const orders = publicIds('/etc/shop/keys', 'shop', 'orders');
//	const publicId = orders.encrypt(rowId);           // string to string
//	const rowId = orders.decrypt(textOfClient);       // an error means: no such row
//
// The application decides who sees what, so each look-up must check that the row belongs to the
// user.
//
// As a program, it reads one ID a line:
//
//	node public_ids.mjs /etc/shop/keys shop orders encrypt <ids
import { createCipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const rounds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const mask = (bits) => (1n << bits) - 1n;
const half = mask(61n);

// Return the 122 bits of a UUID without its version and variant.
function payload(id, version) {
	if (!new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, 'i').test(id))
		throw new RangeError(`not a UUID of version ${version}: ${id}`);
	const bits = BigInt('0x' + id.replaceAll('-', ''));
	return bits >> 80n << 74n | (bits >> 64n & mask(12n)) << 62n | bits & mask(62n);
}

// Return the UUID of a version with the 122 bits.
function withPayload(bits, version) {
	const id = bits >> 74n << 80n | BigInt(version) << 76n | (bits >> 62n & mask(12n)) << 64n | 2n << 62n | bits & mask(62n);
	return id.toString(16).padStart(32, '0').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

// Return the key from a file with lines of the form "database name = digits".
function loadKey(file, database, name) {
	const keys = new Map();
	const lines = readFileSync(file, 'utf8').split('\n');

	if (lines.pop() !== '')
		throw new Error(`${file}: the last line does not end with a newline`);
	lines.forEach((line, n) => {
		if (line === '' || line.startsWith('#'))
			return;
		const [, of, digits] = /^(.+ \S+) = ([0-9a-f]{64})$/i.exec(line) ?? [];
		if (!of || keys.has(of))
			throw new Error(`${file}, line ${n + 1}: malformed line or repeated key`);
		keys.set(of, Buffer.from(digits, 'hex'));
	});
	if (!keys.has(`${database} ${name}`))
		throw new Error(`${file}: no key ${name} for database ${database}`);
	return keys.get(`${database} ${name}`);
}

export function publicIds(file, database, name) {
	const aes = createCipheriv('aes-256-ecb', loadKey(file, database, name), null).setAutoPadding(false);
	const round = (number, bits) => {
		const block = Buffer.alloc(16);
		block.writeBigUInt64BE(BigInt(number), 0);
		block.writeBigUInt64BE(bits, 8);
		return aes.update(block).readBigUInt64BE(0) & half;
	};

	return {
		encrypt(id) {
			const bits = payload(id, 7);
			let [left, right] = [bits >> 61n, bits & half];
			for (const number of rounds)
				[left, right] = [right, left ^ round(number, right)];
			return withPayload(left << 61n | right, 4);
		},
		decrypt(publicId) {
			const bits = payload(publicId, 4);
			let [left, right] = [bits >> 61n, bits & half];
			for (const number of [...rounds].reverse())
				[left, right] = [right ^ round(number, left), left];
			return withPayload(left << 61n | right, 7);
		},
	};
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
	const [file, database, name, direction] = process.argv.slice(2);
	if (!['encrypt', 'decrypt'].includes(direction)) {
		console.error('usage: node public_ids.mjs KEY_FILE DATABASE KEY encrypt|decrypt <IDS');
		process.exit(1);
	}
	const convert = publicIds(file, database, name)[direction];
	for (const id of readFileSync(0, 'utf8').split('\n').filter(Boolean))
		console.log(convert(id));
}
