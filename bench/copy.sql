-- The table that is copied to another database, tracked and read by a new reader.
CREATE TABLE customer (id bigint PRIMARY KEY, name text NOT NULL, mail text, created_at timestamptz NOT NULL);
INSERT INTO customer SELECT n, 'Customer ' || n, n || '@example.com', timestamptz '2026-01-01' + n * interval '1 s' FROM generate_series(1, :rows) AS n;
VACUUM ANALYZE customer;
SELECT public.changes_track('customer') AS log \gset
