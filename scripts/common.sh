# What the commands of this folder share: packages, build, a throwaway server.
# Sourced by bash with -euo pipefail; the caller's folder does not matter.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
server=	# the folder of this command, once there is one
job=	# what it waits for, as as_job starts it

# Warnings that are errors.  Every function takes fcinfo, whether it reads it or not.
warnings='-Wall -Wextra -Werror -Wno-unused-parameter'
# The flags and headers of PostgreSQL that gcc built are for gcc.
if [[ ${CC:-} = *clang* ]]; then
	warnings+=' -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes'
fi

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Can this become root, where sudo wants a password by asking for it?
may_be_root() { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || { command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; }; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Run a command in a process group of its own, so that a signal to this script ends
# both: bash heeds none while it waits for what is no job.
as_job() {
	local status=0

	set -m
	"$@" </dev/null &
	job=$!
	set +m
	wait "$job" || status=$?
	job=
	return "$status"
}

end_job() {
	[ -n "$job" ] && kill -- "-$job" 2>/dev/null || return 0
	for _ in $(seq 50); do
		kill -0 -- "-$job" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -KILL -- "-$job" 2>/dev/null || true
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
			[ -n "$(apt-cache show postgresql 2>/dev/null)" ] || ! may_be_root || as_root apt-get -q update
			major=$(apt-cache show postgresql 2>/dev/null | sed -nE 's/^Depends:.*\<postgresql-([0-9]+)\>.*/\1/p' | head -n 1)
		fi
		[ -n "$major" ] || die "no PostgreSQL found, and apt knows no package postgresql: see whether \"apt-get update\", as root, helps"
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
	may_be_root || die "these packages are missing, and installing them takes root, or sudo: ${missing[*]}"

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

		if [[ ${CC:-} = *clang* ]]; then packages+=(clang); fi
		if [ "$PG_CONFIG" = "/usr/lib/postgresql/$major/bin/pg_config" ]; then
			packages+=("postgresql-$major" "postgresql-server-dev-$major")
			[ "${1:-}" != test ] || has_pgtap || packages+=("postgresql-$major-pgtap")
		fi
		[ "${1:-}" != test ] ||
			packages+=(perl python3 libtap-parser-sourcehandler-pgtap-perl libcmocka-dev libipc-run-perl)
		install_packages "${packages[@]}"
		# which the tests can do without; not to be started by the next boot either
		if [ "${1:-}" = test ] && ! installed pgbouncer && may_be_root &&
			(install_packages pgbouncer); then
			as_root update-rc.d pgbouncer disable >/dev/null 2>&1 || true
		fi
	fi

	bindir=$("$PG_CONFIG" --bindir)
	has_headers "$PG_CONFIG" || lacking+=("the server headers of PostgreSQL $major, with PGXS")
	for program in initdb pg_ctl postgres psql; do
		[ -x "$bindir/$program" ] || lacking+=("$program of PostgreSQL $major, in $bindir")
	done
	for program in gcc ${CC:-} make; do
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

# A new folder that the server's user owns, gone with the command and with every
# server in it.
make_folder() {
	[ -z "$server" ] || return 0
	if [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
		die "as root this needs a user postgres to run the server; or run it as another user"
	fi
	server=$(mktemp -d /tmp/uuid9562.XXXXXX)
	trap stop_server EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	[ "$(id -u)" -ne 0 ] || chown postgres: "$server"
}

# The checkout as a new folder, without what was built here.
copy_checkout() {
	rm -rf "$1"
	mkdir -p "$1"
	tar cf - -C "$root" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
		--exclude=./packages . | tar xf - --no-same-owner -C "$1"
	find "$1/test/core" -type f ! -name '*.[ch]' -delete
}

# Run git in the repository of the checkout.
repository=$root
in_git() { git -C "$repository" -c "safe.directory=$repository" "$@"; }

# need_repository FOLDER: where the checkout is not a git repository, as after unpacking a
# release tarball, commit its files to a new repository in FOLDER.
need_repository() {
	[ ! -e "$root/.git" ] || return 0
	repository=$1
	copy_checkout "$repository"
	in_git init -q -b release
	in_git add -A
	in_git -c user.name=uuid9562 -c user.email=uuid9562@localhost commit -qm 'Files of the release tarball'
}

# private_copy FOLDER: the PostgreSQL of PG_CONFIG once more, in that folder, so that
# something can be installed into it; sets PG_CONFIG to the copy's.  PostgreSQL finds
# its files from where its programs are.  So these are copies, and the rest is links.
private_copy() {
	local bindir sharedir pkglibdir common what path program

	bindir=$("$PG_CONFIG" --bindir)
	sharedir=$("$PG_CONFIG" --sharedir)
	pkglibdir=$("$PG_CONFIG" --pkglibdir)
	common=$bindir
	while [[ $sharedir/ != "$common"/* || $pkglibdir/ != "$common"/* ]]; do common=${common%/*}; done

	for path in "$sharedir" "$pkglibdir"; do
		mkdir -p "$1${path#"$common"}"
		cp -RsL "$path/." "$1${path#"$common"}"
	done
	find "$1" \( -name uuid9562 -o -name 'uuid9562[-.]*' \) -prune -exec rm -rf {} +
	mkdir -p "$1${bindir#"$common"}"
	# there may be other programs in this folder
	for program in "$bindir"/{postgres,psql,initdb,pgbench,createdb,createuser,dropdb,dropuser,clusterdb,reindexdb,vacuumdb,pg_*}; do
		[ ! -x "$program" ] || cp -L "$program" "$1${bindir#"$common"}/"
	done
	for what in libdir includedir pkgincludedir includedir-server; do
		path=$("$PG_CONFIG" --$what)
		[[ $path = "$common"/* ]] && [ ! -e "$1${path#"$common"}" ] || continue
		mkdir -p "$(dirname "$1${path#"$common"}")"
		ln -s "$path" "$1${path#"$common"}"
	done
	PG_CONFIG=$1${bindir#"$common"}/pg_config
	[ "$("$PG_CONFIG" --sharedir)" = "$1${sharedir#"$common"}" ] ||
		die "a copy of this PostgreSQL, made to install the extension into, does not find its files: $("$PG_CONFIG" --sharedir)"
}

# build_into FOLDER [FLAGS]: build the checkout with these compiler flags, and install it
# into a private copy of PG_CONFIG's PostgreSQL, which is PG_CONFIG's from then on; all
# in that folder.  The checkout and the machine's PostgreSQL stay as they are.
build_into() {
	say "building for $("$PG_CONFIG" --version)"
	copy_checkout "$1/uuid9562"
	private_copy "$1/postgresql"
	make -s -C "$1/uuid9562" ${CC:+"CC=$CC"} COPT="${2:-}" all
	make -s -C "$1/uuid9562" COPT="${2:-}" install >/dev/null
}

# For the throwaway server.
build() {
	make_folder
	umask 022
	source=$server/uuid9562
	build_into "$server" "${1:-}"
	PATH=$(dirname "$PG_CONFIG"):$PATH
}

# --- throwaway server -------------------------------------------------------

# PostgreSQL does not run as root: root lends the server to user postgres.
as_server_user() {
	if [ "$(id -u)" -eq 0 ]; then (cd "$server" && runuser -u postgres -- "$@"); else "$@"; fi
}

# A server that only a socket in its folder reaches.
start_server() {
	local pg_config=$PG_CONFIG

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
	end_job
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
	cp -R "$root/README.md" "$root/doc" "$root/managed" "$folder"
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
