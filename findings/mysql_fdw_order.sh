#!/usr/bin/env bash
# Version:  mysql_fdw 2.8.0 (Debian 12's package postgresql-15-mysql-fdw), PostgreSQL 15, MariaDB 10.11
# Behavior: MariaDB's type uuid orders v1 to v5 by their last bytes first. mysql_fdw nevertheless lets MariaDB
#           compare and sort. A foreign table then returns rows for which PostgreSQL evaluates the same condition
#           as false, and in MariaDB's order. A merge join fails: "mergejoin input data is out of order".
# Output:   aaaaaaaa-...|t, 2e04d8e9-...|f, 550e8400-...|t: the key, and the condition of WHERE evaluated again
# Guess:    only rows with t in PostgreSQL's order, since mysql_fdw knows the type of the remote column
set -euo pipefail

bin=/usr/lib/postgresql/15/bin
packages=(postgresql-15 postgresql-15-mysql-fdw mariadb-server)
dpkg -s "${packages[@]}" &>/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends "${packages[@]}"; } &>/dev/null || exit 2
# PostgreSQL refuses to run as root
as() { if [ "$(id -u)" -eq 0 ]; then runuser -u "$1" -- "${@:2}"; else "${@:2}"; fi; }
maria() { mariadb --no-defaults --socket="$dir/maria/socket" -u root "$@"; }
dir=$(mktemp -d)
trap '{ as postgres $bin/pg_ctl -D data -m immediate stop; maria -e SHUTDOWN; wait; } &>/dev/null || true
	rm -rf "$dir"' EXIT
cd "$dir"

mkdir data maria
[ "$(id -u)" -ne 0 ] || { chmod 755 . && chown postgres data && chown mysql maria; }
as mysql mariadb-install-db --no-defaults --datadir="$dir/maria" --auth-root-authentication-method=normal >/dev/null
as mysql /usr/sbin/mariadbd --no-defaults --datadir="$dir/maria" --socket="$dir/maria/socket" \
	--skip-networking 2>maria.log &
for _ in $(seq 100); do ! maria -e 'SELECT 1' &>/dev/null || break; sleep 0.2; done

# mysql_fdw has no option for the socket, but its client library reads a variable
export MYSQL_UNIX_PORT=$dir/maria/socket
as postgres $bin/initdb -D data -U postgres -A trust >/dev/null
as postgres $bin/pg_ctl -D data -l data/log -o "-k $dir/data -c listen_addresses=''" -w start >/dev/null
sql() { $bin/psql -h "$dir/data" -U postgres -XAtq "$@" 2>&1; }

maria <<'EOS'
CREATE DATABASE shop;
CREATE TABLE shop.customer (id uuid PRIMARY KEY);
INSERT INTO shop.customer VALUES ('550e8400-e29b-41d4-a716-446655440000'),
	('2e04d8e9-ebad-11f1-94c9-02fc00000001'), ('aaaaaaaa-ebad-11f1-94c9-02fc00000000');
EOS
sql <<'EOS' | tee output
CREATE EXTENSION mysql_fdw;
CREATE SERVER maria FOREIGN DATA WRAPPER mysql_fdw OPTIONS (host 'localhost');
CREATE USER MAPPING FOR postgres SERVER maria OPTIONS (username 'root');
IMPORT FOREIGN SCHEMA shop FROM SERVER maria INTO public;
SELECT id, id > '40000000-0000-4000-8000-000000000000' FROM customer
WHERE id > '40000000-0000-4000-8000-000000000000' ORDER BY id;
EOS
diff output - <<'EOS'
aaaaaaaa-ebad-11f1-94c9-02fc00000000|t
2e04d8e9-ebad-11f1-94c9-02fc00000001|f
550e8400-e29b-41d4-a716-446655440000|t
EOS
