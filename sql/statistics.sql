-- What the generators of this session have done.
SET TimeZone = 'UTC';
\pset null NULL

-- nothing yet
SELECT generator, version, method, last_timestamp, generated, clock_backwards, ran_ahead, mark_writes, damaged_marks
FROM public.uuid_generator_stats() WHERE scope = 'session';

-- each generator counts its own
SELECT count(public.uuidv7()) FROM generate_series(1, 3);
SELECT count(public.uuidv7('1 day')) FROM generate_series(1, 2);
SELECT count(public.uuidv6()), count(public.uuidv8()), count(public.uuidv8_node(1)), count(public.uuidv1());
SELECT generator, generated, clock_backwards, abs(extract(epoch FROM last_timestamp - clock_timestamp())) < 60 AS now
FROM public.uuid_generator_stats() WHERE scope = 'session';

-- those without a generator, and those of a given time, are not among them
SELECT count(public.uuidv4()), count(public.uuidv7_at(now())), count(public.uuidv5(public.nil_uuid(), 'name'));
SELECT sum(generated) FROM public.uuid_generator_stats() WHERE scope = 'session';

-- a rollback takes nothing back
BEGIN;
SELECT count(public.uuidv7());
ROLLBACK;
SELECT generated FROM public.uuid_generator_stats() WHERE scope = 'session' AND generator = 'uuidv7';

-- the method is that of the setting
SET uuid9562.v7_method = counter;
SELECT generator, method FROM public.uuid_generator_stats() WHERE scope = 'session';
RESET uuid9562.v7_method;

-- the settings
SHOW uuid9562.monotonic_scope;
SHOW uuid9562.max_ahead;
SET uuid9562.monotonic_scope = server;
\echo :SQLSTATE
SET uuid9562.max_ahead = 5;
\echo :SQLSTATE
