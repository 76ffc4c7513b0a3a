// Functions and values that the tests of npm packages share.
let steps = 0;

export function step(good, name, got) {
	console.log(`${good ? 'ok' : 'not ok'} ${++steps} - ${name}`);
	if (!good)
		console.log('# got: ' + JSON.stringify(got));
}

export const done = () => console.log(`1..${steps}`);

export const items = Array.from({ length: 100 }, (_, n) => `bulk ${n}`);
export const isV7 = (id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id);
export const ascending = (ids) => ids.every((id, n) => isV7(id) && (n === 0 || id > ids[n - 1]));
export const usesIndex = (plan) => /Index (Only )?Scan|Bitmap Index Scan/.test(JSON.stringify(plan));

// an hour in the week of a_week_of_orders()
export const from = new Date('2026-03-02T09:00Z');
export const to = new Date('2026-03-02T10:00Z');
