#!/usr/bin/env bash
# Version:  wal2json 2.5 (Debian 12's package postgresql-15-wal2json), PostgreSQL 15
# Behavior: the default format of wal2json omits TRUNCATE, without a warning: the transaction is an empty list of
#           changes, so that a copy keeps the rows. Format 2 reports TRUNCATE, as action T.
# Output:   format 1: {"change":[]}
#           format 2: {"action":"T","schema":"public","table":"event"}
# Guess:    both formats report TRUNCATE, which PostgreSQL passes to output plugins since version 11
set -euo pipefail

bin=/usr/lib/postgresql/15/bin
packages=(postgresql-15 postgresql-15-wal2json)
dpkg -s "${packages[@]}" &>/dev/null ||
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends "${packages[@]}"; } &>/dev/null || exit 2
# PostgreSQL refuses to run as root
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
dir=$(mktemp -d)
trap 'as_user $bin/pg_ctl -D data -m immediate stop &>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"

mkdir data
[ "$(id -u)" -ne 0 ] || { chmod 755 . && chown postgres data; }
as_user $bin/initdb -D data -U postgres -A trust >/dev/null
# later minor releases load only output plugins in this list
! as_user $bin/postgres -D data -C output_plugin_libraries &>/dev/null ||
	echo "output_plugin_libraries = 'wal2json'" >>data/postgresql.conf
echo 'wal_level = logical' >>data/postgresql.conf
as_user $bin/pg_ctl -D data -l data/log -o "-k $dir/data -c listen_addresses=''" -w start >/dev/null

sql() { $bin/psql -h "$dir/data" -U postgres -XAtq "$@"; }
peek() { sql -c "SELECT data FROM pg_logical_slot_peek_changes('slot', NULL, NULL, 'format-version', '$1')"; }
sql -c 'CREATE TABLE event (id uuid PRIMARY KEY)'
sql -c "SELECT pg_create_logical_replication_slot('slot', 'wal2json')" >/dev/null
sql -c 'TRUNCATE event'
{
	echo "format 1: $(peek 1)"
	echo "format 2: $(peek 2 | grep -v -e '"B"' -e '"C"')"
} | tee output
diff output - <<'EOS'
format 1: {"change":[]}
format 2: {"action":"T","schema":"public","table":"event"}
EOS
