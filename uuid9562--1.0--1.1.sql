/* uuid9562--1.0--1.1.sql */

-- complain if script is sourced in psql, rather than via CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION uuid9562 UPDATE TO '1.1'" to load this file. \quit

-- Generation

CREATE FUNCTION uuidv7_next() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_next() IS
'uuidv7() under a name that no PostgreSQL has, for defaults (RFC 9562, 5.7)';

-- Time

COMMENT ON FUNCTION uuidv6_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of version 6 (RFC 9562, 5.6)';
COMMENT ON FUNCTION uuidv7_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of version 7 (RFC 9562, 5.7)';
COMMENT ON FUNCTION uuidv8_node_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of uuidv8_node() (RFC 9562, 6.4)';
