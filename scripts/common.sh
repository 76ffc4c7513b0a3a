# What the commands of this folder share: packages, build, a throwaway server.
# Sourced by bash with -euo pipefail; the caller's folder does not matter.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "this needs root, and there is no sudo: $*"
	fi
}

# --- packages ---------------------------------------------------------------

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# PG_CONFIG and its major version: as given, or of the newest server installed,
# or of the one that the distribution's package "postgresql" stands for.
choose_postgres() {
	if [ -z "${PG_CONFIG:-}" ] && has_apt; then
		major=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres |
			sed -nE 's|^/usr/lib/postgresql/([0-9]+)/bin/postgres$|\1|p' | sort -n | tail -n 1)
		if [ -z "$major" ]; then
			[ -n "$(apt-cache show postgresql 2>/dev/null)" ] || as_root apt-get -q update
			major=$(apt-cache show postgresql | sed -nE 's/^Depends:.*\<postgresql-([0-9]+)\>.*/\1/p' | head -n 1)
		fi
		[ -n "$major" ] || die "no PostgreSQL found, and no package postgresql to install"
		PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
	elif has_apt && [[ ${PG_CONFIG:-} =~ ^/usr/lib/postgresql/([0-9]+)/bin/pg_config$ ]]; then
		major=${BASH_REMATCH[1]}	# a Debian package: install_packages sees to it
	else
		PG_CONFIG=${PG_CONFIG:-pg_config}
		command -v "$PG_CONFIG" >/dev/null ||
			die "no program $PG_CONFIG: install PostgreSQL 15 or later with its server headers, or set PG_CONFIG"
		PG_CONFIG=$(realpath "$(command -v "$PG_CONFIG")")
		major=$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
		[[ $major =~ ^[0-9]+$ ]] || die "PG_CONFIG is no pg_config: $PG_CONFIG"
	fi
	export PG_CONFIG
}

# Install what is missing of the named Debian packages, without letting them
# create a cluster or start a service.
install_packages() {
	local missing=() package made=()
	local quiet=/etc/postgresql-common/createcluster.d/uuid9562-scripts.conf policy=/usr/sbin/policy-rc.d

	for package in "$@"; do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	say "installing: ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	as_root apt-get -q update
	as_root apt-get -qq -y --no-install-recommends install postgresql-common >/dev/null
	as_root mkdir -p "${quiet%/*}"
	made=("$quiet")
	# one of ours is of a command that was killed
	if [ ! -e "$policy" ] || grep -q '^# uuid9562:' "$policy"; then made+=("$policy"); fi
	trap "as_root rm -f ${made[*]}" EXIT
	echo 'create_main_cluster = false' | as_root tee "$quiet" >/dev/null
	if [ ${#made[@]} -gt 1 ]; then
		printf '%s\n' '#!/bin/sh' '# uuid9562: no service starts while scripts install packages' 'exit 101' | as_root tee "$policy" >/dev/null
		as_root chmod +x "$policy"
	fi
	as_root apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null ||
		die "could not install: ${missing[*]}"
	as_root rm -f "${made[@]}"
	trap - EXIT
}

has_pgtap() { [ -x "$PG_CONFIG" ] && [ -f "$("$PG_CONFIG" --sharedir)/extension/pgtap.control" ]; }

# Of the PostgreSQL of that pg_config: Debian's client has PGXS without the headers.
has_headers() { [ -f "$("$1" --pgxs)" ] && [ -f "$("$1" --includedir-server)/postgres.h" ]; }

# Everything that building and running needs; with "test", what testing needs
# too.  Where there is no apt, or PG_CONFIG is not Debian's, say what lacks.
need() {
	local lacking=() bindir

	choose_postgres
	if has_apt; then
		local packages=(gcc libc6-dev make)

		if [ "$PG_CONFIG" = "/usr/lib/postgresql/$major/bin/pg_config" ]; then
			packages+=("postgresql-$major" "postgresql-server-dev-$major")
			[ "${1:-}" != test ] || has_pgtap || packages+=("postgresql-$major-pgtap")
		fi
		[ "${1:-}" != test ] ||
			packages+=(perl libtap-parser-sourcehandler-pgtap-perl libcmocka-dev libipc-run-perl)
		install_packages "${packages[@]}"
		# which the tests can do without; not to be started by the next boot either
		if [ "${1:-}" = test ] && ! installed pgbouncer && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; } &&
			(install_packages pgbouncer); then
			as_root update-rc.d pgbouncer disable >/dev/null 2>&1 || true
		fi
	fi

	bindir=$("$PG_CONFIG" --bindir)
	has_headers "$PG_CONFIG" || lacking+=("the server headers of PostgreSQL $major, with PGXS")
	for program in initdb pg_ctl postgres psql; do
		[ -x "$bindir/$program" ] || lacking+=("$program of PostgreSQL $major, in $bindir")
	done
	for program in gcc make; do
		command -v $program >/dev/null || lacking+=("$program")
	done
	if [ "${1:-}" = test ]; then
		command -v prove >/dev/null || lacking+=("prove, of Perl's Test::Harness")
		command -v pg_prove >/dev/null || lacking+=("pg_prove, of Perl's TAP::Parser::SourceHandler::pgTAP")
		perl -MIPC::Run -e 1 2>/dev/null || lacking+=("Perl's IPC::Run")
		echo '#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>' | gcc -E - >/dev/null 2>&1 || lacking+=("cmocka, with its header")
		has_pgtap || lacking+=("pgTAP for PostgreSQL $major")
	fi
	if [ ${#lacking[@]} -gt 0 ]; then
		printf '%s: please install\n' "${0##*/}" >&2
		printf '  - %s\n' "${lacking[@]}" >&2
		exit 1
	fi
	[ "$major" -ge 15 ] || die "PostgreSQL 15 or later is needed; this is $("$PG_CONFIG" --version)"
	PATH=$bindir:$PATH
}

# --- build ------------------------------------------------------------------

# One command at a time installs into a PostgreSQL and uses it.
lock_postgres() {
	exec 9<"$("$PG_CONFIG" --pkglibdir)"
	if command -v flock >/dev/null && ! flock -n 9; then
		say "waiting for another of these commands to finish with $PG_CONFIG"
		flock 9
	fi
}

# Build and install; $1 are extra compiler flags.  Objects made for another
# PostgreSQL, or with other flags, are made anew.
build() {
	local target

	lock_postgres
	target="$("$PG_CONFIG" --version) $PG_CONFIG ${1:-}"
	if [ "$(cat "$root/.build-for" 2>/dev/null)" != "$target" ]; then
		make -s -C "$root" clean >/dev/null
		echo "$target" >"$root/.build-for"
	fi
	say "building for $("$PG_CONFIG" --version)"
	make -s -C "$root" COPT="${1:-}" all
	install_into "$root" "${1:-}"
}

# Install what is built in the folder $1, building it first where it is not.
install_into() {
	local install=(make -s -C "$1" PG_CONFIG="$PG_CONFIG" COPT="$2" install)

	if [ -w "$("$PG_CONFIG" --pkglibdir)" ] && [ -w "$("$PG_CONFIG" --sharedir)/extension" ]; then
		"${install[@]}" >/dev/null
	else
		make -s -C "$1" PG_CONFIG="$PG_CONFIG" COPT="$2" all
		as_root "${install[@]}" >/dev/null
	fi
}

# --- throwaway server -------------------------------------------------------

# PostgreSQL does not run as root: root lends the server to user postgres.
as_server_user() {
	if [ "$(id -u)" -eq 0 ]; then (cd "$server" && runuser -u postgres -- "$@" 9<&-); else "$@" 9<&-; fi
}

# A new folder that the server's user owns, gone with the command, and in it a
# server that only a socket there reaches.
start_server() {
	local pg_config=$PG_CONFIG

	server=$(mktemp -d /tmp/uuid9562.XXXXXX)
	trap stop_server EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	if [ "$(id -u)" -eq 0 ]; then
		id postgres >/dev/null 2>&1 || die "as root this needs a user postgres to run the server; or run it as another user"
		chown postgres: "$server"
	fi

	# nothing of the caller's connection settings
	unset "${!PG@}"
	export PG_CONFIG=$pg_config PGHOST=$server PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	export LC_ALL=C.UTF-8
	as_server_user initdb -D "$server/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$server/initdb.log" 2>&1 ||
		{ cat "$server/initdb.log" >&2; die "initdb failed"; }
	cat >>"$server/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$server'
		fsync = off
		shared_buffers = 256MB
		max_wal_size = 4GB
	END
	as_server_user pg_ctl -D "$server/data" -l "$server/log" -w start >"$server/pg_ctl.log" 2>&1 ||
		{ cat "$server/pg_ctl.log" "$server/log" >&2; die "the server did not start"; }
}

stop_server() {
	local status=$?

	trap - EXIT
	# this one, and what an interrupted test has left
	find "$server" -name postmaster.pid 2>/dev/null | while read -r pid; do
		as_server_user pg_ctl -D "${pid%/*}" -m immediate stop >/dev/null 2>&1 || true
	done
	rm -rf "$server"
	exit "$status"
}

# The tests of a folder that start servers of their own, or those of them that are
# named.  They run as the server's user, who may not be able to read the checkout.
cluster_tests() {
	local perl5lib pgxs tests folder="$server/${1##*/}"

	pgxs=$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")
	perl5lib=$pgxs/test/perl
	[ -f "$perl5lib/PostgreSQL/Test/Cluster.pm" ] || { echo "no PostgreSQL::Test::Cluster in $perl5lib"; return 1; }
	cp -R "$root/$1" "$folder"
	chmod -R a+rX "$folder"
	mkdir -p "$folder/cluster" "$folder/tmp"
	[ "$(id -u)" -ne 0 ] || chown postgres: "$folder" "$folder/cluster" "$folder/tmp"
	shift
	tests=("${@/#/$folder/}")
	[ $# -gt 0 ] || tests=("$folder"/*.pl)
	(
		unset PGHOST PGPORT PGUSER PGDATABASE
		as_server_user env "PATH=$PATH" "TMPDIR=$folder/tmp" "PERL5LIB=$perl5lib" "TESTDIR=$folder/cluster" \
			"TESTDATADIR=$folder/cluster" "TESTLOGDIR=$folder/cluster/log" \
			"PG_REGRESS=$pgxs/test/regress/pg_regress" "PG_CONFIG=$PG_CONFIG" \
			prove --verbose "${tests[@]}"
	)
}
