-- Procedures for the suite "horizon" of scripts/bench.
\ir sessions.sql
