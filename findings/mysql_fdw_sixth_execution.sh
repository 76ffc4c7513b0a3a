#!/usr/bin/env bash
# Version:  mysql_fdw 2.8.0 (Debian 12's package postgresql-15-mysql-fdw), PostgreSQL 15, MariaDB 10.11
# Behavior: mysql_fdw sends a uuid that is a constant of the plan, but raises an error if it is a parameter. So the
#           first five executions of a prepared statement succeed, because PostgreSQL plans each with the constant.
#           The sixth execution uses a generic plan, and fails. INSERT of a uuid fails at once.
# Output:   1 in five lines, then "cannot convert constant value to MySQL value"
# Guess:    all executions succeed, or all fail
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
INSERT INTO shop.customer VALUES ('01987654-3210-7abc-8def-0123456789ab');
EOS
sql <<'EOS' | sed 's/^.*ERROR: *//; /HINT/d' | tee output
CREATE EXTENSION mysql_fdw;
CREATE SERVER maria FOREIGN DATA WRAPPER mysql_fdw OPTIONS (host 'localhost');
CREATE USER MAPPING FOR postgres SERVER maria OPTIONS (username 'root');
IMPORT FOREIGN SCHEMA shop FROM SERVER maria INTO public;
PREPARE find(uuid) AS SELECT count(*) FROM customer WHERE id = $1;
SELECT format('EXECUTE find(%L)', '01987654-3210-7abc-8def-0123456789ab') FROM generate_series(1, 6) \gexec
EOS
diff output - <<'EOS'
1
1
1
1
1
cannot convert constant value to MySQL value
EOS
