// npm's uuid package on what the extension says of UUIDs.
//
// Reads tab-separated lines of scripts/judges from standard input, and ends with an
// error where the two differ.
//
//     name       namespace, name, v3, v5
//     inspect    uuid, version or nothing, ...
//     convert    v1, the same as v6
//
// The package takes as valid what has the variant of RFC 9562 and a version from 1
// to 8, and has a version for nothing else but Nil and Max.
import { createInterface } from "node:readline";
import { v1ToV6, v3, v5, v6ToV1, validate, version } from "uuid";

// of any namespace: as text the package takes valid ones only
const octets = (uuid) => Uint8Array.from(Buffer.from(uuid.replaceAll("-", ""), "hex"));

const judges = {
	name: ([space, name]) => [v3(name, octets(space)), v5(name, octets(space))],
	inspect: ([uuid]) => [validate(uuid) ? String(version(uuid)) : "not valid"],
	convert: ([first, sixth]) => [v1ToV6(first), v6ToV1(sixth)],
};
const given = {
	name: ([, , third, fifth]) => [third, fifth],
	inspect: ([, number]) => [number >= 1 && number <= 8 ? number : "not valid"],
	convert: ([first, sixth]) => [sixth, first],
};
const judged = { name: 0, inspect: 0, convert: 0 };
let differences = 0;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const [what, ...fields] = line.split("\t");
	const expected = judges[what](fields);
	if (String(expected) !== String(given[what](fields))) {
		differences++;
		if (differences <= 10) console.log("differs:", line, "uuid:", expected);
	}
	judged[what]++;
}

for (const what of Object.keys(judged)) console.log(`${what}: ${judged[what]} judged by npm's uuid`);
if (differences > 0 || Object.values(judged).includes(0)) {
	console.log(`${differences} differ`);
	process.exitCode = 1;
}
