-- Fill the table "loaded" with so many rows, and print what it took.  Run by
-- scripts/bench.
SELECT pg_current_wal_insert_lsn() AS lsn, extract(epoch FROM clock_timestamp()) AS began, floor.cpu() AS cpu \gset
INSERT INTO loaded (n) SELECT generate_series(1, :rows);
SELECT 's of CPU time', (floor.cpu() - :cpu) / 1000;
SELECT 's', extract(epoch FROM clock_timestamp()) - :began;
SELECT 'octets of WAL a row', (pg_current_wal_insert_lsn() - :'lsn')::float8 / :rows;
SELECT 'octets of index a row', pg_relation_size('loaded_pkey')::float8 / :rows;
