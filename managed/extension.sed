# Make the script of an extension for pg_tle and database.dev from a file of this folder.  Remove the
# statements for the transaction, the schema and the search path, since CREATE EXTENSION provides all three.
/^BEGIN;$/d
/^COMMIT;$/d
/ SCHEMA uuid9562/d
/^SET LOCAL/d
s/uuid9562_changes\([.']\)/@extschema@\1/g
