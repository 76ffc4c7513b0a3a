# Functions that the scripts share: they install packages, build the extension, and run a
# throwaway server.  Source this file in bash with -euo pipefail, from any folder.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
server=	# temporary folder of this script, from make_folder
job=	# process group that this script waits for, from as_job
processors=$(getconf _NPROCESSORS_ONLN)
heartbeat=	# process that prints the elapsed time, from start_heartbeat, and the pipe it reads
heartbeat_input=

# Treat warnings as errors.  Do not warn about unused parameters, since the C function of
# an SQL function has the parameter fcinfo even if the SQL function has no arguments.
warnings='-Wall -Wextra -Werror -Wno-unused-parameter'
# If gcc built PostgreSQL, PGXS passes flags of gcc, and the headers have attributes of
# gcc.  Let clang ignore both.
if [[ ${CC:-} = *clang* ]]; then
	warnings+=' -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes'
fi

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Check whether commands can run as root.  sudo may ask for a password on a terminal.
may_be_root() { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || { command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; }; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Exit at the first signal, and ignore further ones, since they would end the trap of EXIT.
exit_on_signals() {
	trap "trap '' INT TERM HUP; exit 130" INT
	trap "trap '' INT TERM HUP; exit 143" TERM HUP
}

# Run a command in the background, in a process group of its own, and wait for it.  Bash
# handles a signal during "wait", but not while a foreground command runs.  Then end the
# processes that the command has left.  If a signal ends this script, stop_server ends the
# process group.
as_job() {
	local status=0

	set -m
	"$@" </dev/null &
	job=$!
	set +m
	wait "$job" || status=$?
	end_job
	return "$status"
}

end_job() {
	local group=$job

	job=
	[ -n "$group" ] && kill -- "-$group" 2>/dev/null || return 0
	for _ in $(seq 50); do
		kill -0 -- "-$group" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -KILL -- "-$group" 2>/dev/null || true
}

# start_heartbeat FILE: print the elapsed time whenever FILE has not grown for 20 seconds, until
# this script calls end_heartbeat or ends.  The process waits by reading a pipe that is closed
# then.  A signal would not be safe, since bash loses one that arrives right after it has forked.
start_heartbeat() {
	end_heartbeat
	{
		coproc HEARTBEAT {
			quiet=0 size=0
			# the status is above 128 after the five seconds, 1 at the end of the pipe
			until read -rt 5 || [ $? -le 128 ]; do
				now=$(wc -c <"$1")
				if [ "$now" -gt "$size" ]; then quiet=0; else quiet=$((quiet + 5)); fi
				size=$now
				[ $((quiet % 20)) -ne 0 ] || [ "$quiet" -eq 0 ] || echo "    ... $SECONDS seconds"
			done
		} >&3
	} 3>&1
	heartbeat=$HEARTBEAT_PID heartbeat_input=${HEARTBEAT[1]}
}

end_heartbeat() {
	[ -n "$heartbeat" ] || return 0
	exec {heartbeat_input}>&-
	wait "$heartbeat" 2>/dev/null || true
	heartbeat=
}

# --- packages ---------------------------------------------------------------

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# Check whether a package is installed.  While another program installs packages, a package can be
# unconfigured for a moment, so wait for at most a minute until it is configured.
installed() {
	local status

	for _ in $(seq 60); do
		status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) || return 1
		case $status in
		installed | triggers-awaited | triggers-pending) return 0 ;;
		unpacked | half-configured | half-installed) sleep 1 ;;
		*) return 1 ;;
		esac
	done
	return 1
}

# apt_get COMMAND...: run apt-get as root.  Wait for at most ten minutes while another program holds a
# lock of apt or dpkg.  Print the output of apt-get if it fails.
apt_get() {
	local log status

	log=$(mktemp /tmp/uuid9562.XXXXXX)
	for _ in $(seq 120); do
		status=0
		# sudo does not pass DEBIAN_FRONTEND to apt
		as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -y -o DPkg::Lock::Timeout=60 "$@" >"$log" 2>&1 || status=$?
		[ "$status" -ne 0 ] && grep -Eq '^E: (Could not get lock|Unable to (lock|acquire))' "$log" || break
		sleep 5
	done
	[ "$status" -eq 0 ] || cat "$log" >&2
	rm -f "$log"
	return "$status"
}

# Set $major, and PG_CONFIG if it is not set.  If PG_CONFIG is not set, choose the newest installed
# server on Debian or, if none is installed, the version of Debian's package "postgresql".  On
# other systems, choose the pg_config in PATH.
choose_postgres() {
	if [ -z "${PG_CONFIG:-}" ] && has_apt; then
		major=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres |
			sed -nE 's|^/usr/lib/postgresql/([0-9]+)/bin/postgres$|\1|p' | sort -n | tail -n 1)
		if [ -z "$major" ]; then
			[ -n "$(apt-cache show postgresql 2>/dev/null)" ] || ! may_be_root || apt_get update
			major=$(apt-cache show postgresql 2>/dev/null | sed -nE 's/^Depends:.*\<postgresql-([0-9]+)\>.*/\1/p' | head -n 1)
		fi
		[ -n "$major" ] || die "found neither PostgreSQL nor a package postgresql: try \"apt-get update\" as root"
		PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
	elif has_apt && [[ ${PG_CONFIG:-} =~ ^/usr/lib/postgresql/([0-9]+)/bin/pg_config$ ]]; then
		major=${BASH_REMATCH[1]}	# "need" installs the Debian package if it is missing
	else
		PG_CONFIG=${PG_CONFIG:-pg_config}
		command -v "$PG_CONFIG" >/dev/null ||
			die "could not find program $PG_CONFIG: install PostgreSQL 15 or later with its server headers, or set PG_CONFIG"
		PG_CONFIG=$(realpath "$(command -v "$PG_CONFIG")")
		major=$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
		[[ $major =~ ^[0-9]+$ ]] || die "PG_CONFIG is not a pg_config program: $PG_CONFIG"
	fi
	export PG_CONFIG
}

# Install the named Debian packages that are missing.  Prevent them from creating a
# cluster or starting a service.
install_packages() {
	local missing=() package

	for package in "$@"; do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	may_be_root || die "these packages are missing, and installing them requires root or sudo: ${missing[*]}"

	say "installing: ${missing[*]}"
	(install_missing "${missing[@]}") || die "could not install: ${missing[*]}"
}

# Call this in a subshell, whose end removes the files that it creates.
install_missing() {
	local made quiet=/etc/postgresql-common/createcluster.d/uuid9562-scripts.conf policy=/usr/sbin/policy-rc.d

	apt_get update && apt_get --no-install-recommends install postgresql-common && as_root mkdir -p "${quiet%/*}" || exit
	made=("$quiet")
	# keep an existing policy-rc.d, unless a killed script of this folder left it behind
	if [ ! -e "$policy" ] || grep -q '^# uuid9562:' "$policy"; then made+=("$policy"); fi
	trap "as_root rm -f ${made[*]}" EXIT
	exit_on_signals
	echo 'create_main_cluster = false' | as_root tee "$quiet" >/dev/null
	if [ ${#made[@]} -gt 1 ]; then
		printf '%s\n' '#!/bin/sh' '# uuid9562: no service starts while scripts install packages' 'exit 101' | as_root tee "$policy" >/dev/null
		as_root chmod +x "$policy"
	fi
	apt_get --no-install-recommends install "$@"
}

has_pgtap() { [ -x "$PG_CONFIG" ] && [ -f "$("$PG_CONFIG" --sharedir)/extension/pgtap.control" ]; }

# has_headers PG_CONFIG: check for PGXS and the server headers.  Debian's client package
# has PGXS without the headers.
has_headers() { [ -f "$("$1" --pgxs)" ] && [ -f "$("$1" --includedir-server)/postgres.h" ]; }

# lacks_openssl PG_CONFIG: check whether PostgreSQL uses OpenSSL, but the headers of OpenSSL
# are missing.
lacks_openssl() {
	grep -q '^#define USE_OPENSSL 1' "$("$1" --includedir-server)/pg_config.h" &&
		! echo '#include <openssl/evp.h>' | gcc -E - >/dev/null 2>&1
}

# need [test]: choose PostgreSQL, and install the packages that building and running the
# extension require.  With "test", also install the packages that the tests require.  If
# something that apt cannot install is missing, list it and exit.
need() {
	local lacking=() bindir

	choose_postgres
	if has_apt; then
		local packages=(gcc libc6-dev libssl-dev make)

		if [[ ${CC:-} = *clang* ]]; then packages+=(clang); fi
		if [ "$PG_CONFIG" = "/usr/lib/postgresql/$major/bin/pg_config" ]; then
			packages+=("postgresql-$major" "postgresql-server-dev-$major")
			[ "${1:-}" != test ] || has_pgtap || packages+=("postgresql-$major-pgtap")
		fi
		[ "${1:-}" != test ] ||
			packages+=(perl python3 python3-psycopg libtap-parser-sourcehandler-pgtap-perl libcmocka-dev libipc-run-perl)
		install_packages "${packages[@]}"
		# install PgBouncer if possible, since tests of poolers use it; do not start it at boot
		if [ "${1:-}" = test ] && ! installed pgbouncer && may_be_root &&
			(install_packages pgbouncer); then
			as_root update-rc.d pgbouncer disable >/dev/null 2>&1 || true
		fi
	fi

	bindir=$("$PG_CONFIG" --bindir)
	has_headers "$PG_CONFIG" || lacking+=("the server headers of PostgreSQL $major, with PGXS")
	! lacks_openssl "$PG_CONFIG" 2>/dev/null || lacking+=("the headers of OpenSSL")
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
	[ "$major" -ge 15 ] || die "PostgreSQL 15 or later is required; this is $("$PG_CONFIG" --version)"
	PATH=$bindir:$PATH
}

# --- build ------------------------------------------------------------------

# Create a temporary folder that the server's user owns.  When this script ends, stop
# every server in the folder, and remove the folder.
make_folder() {
	[ -z "$server" ] || return 0
	if [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
		die "user postgres does not exist; create it or run this script as another user than root"
	fi
	trap stop_server EXIT
	exit_on_signals
	server=$(mktemp -d /tmp/uuid9562.XXXXXX)
	[ "$(id -u)" -ne 0 ] || chown postgres: "$server"
	printf '#!/bin/sh\n' >"$server/program"
	chmod +x "$server/program"
	"$server/program" 2>/dev/null || die "cannot run programs in /tmp; mount it without the option noexec"
}

# copy_checkout FOLDER: copy the checkout without build products to a new folder.
copy_checkout() {
	rm -rf "$1"
	mkdir -p "$1"
	tar cf - -C "$root" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
		--exclude=./.pg_config --exclude=./packages --exclude=./public --exclude=./screenshots . | tar xf - --no-same-owner -C "$1"
	find "$1/test/core" "$1/test/schedules" -type f ! -name '*.[ch]' ! -name '*.pl' -delete
}

repository=$root
in_git() { git -C "$repository" -c "safe.directory=$repository" "$@"; }

# need_repository FOLDER: if the checkout is not a git repository, commit its files to a
# new repository in FOLDER.  An unpacked release tarball is such a checkout.
need_repository() {
	[ ! -e "$root/.git" ] || return 0
	repository=$1
	copy_checkout "$repository"
	in_git init -q -b release
	in_git add -A
	in_git -c user.name=uuid9562 -c user.email=uuid9562@localhost commit -qm 'Files of the release tarball'
}

# private_copy FOLDER: copy the PostgreSQL of PG_CONFIG to a folder, so that the extension
# can be installed into the copy.  Set PG_CONFIG to the pg_config of the copy.
# PostgreSQL finds its files relative to its programs, so copy the programs and link the
# other files.
private_copy() {
	local bindir sharedir pkglibdir common what path program

	bindir=$("$PG_CONFIG" --bindir)
	sharedir=$("$PG_CONFIG" --sharedir)
	pkglibdir=$("$PG_CONFIG" --pkglibdir)
	# otherwise the loop below would end at the root of the file system
	[[ -d $bindir && -d $sharedir && -d $pkglibdir ]] || die "PG_CONFIG is not a pg_config program: ${PG_CONFIG:-}"
	common=$bindir
	while [[ $sharedir/ != "$common"/* || $pkglibdir/ != "$common"/* ]]; do common=${common%/*}; done

	for path in "$sharedir" "$pkglibdir"; do
		mkdir -p "$1${path#"$common"}"
		cp -RsL "$path/." "$1${path#"$common"}"
	done
	find "$1" \( -name uuid9562 -o -name 'uuid9562[-_.]*' \) -prune -exec rm -rf {} +
	mkdir -p "$1${bindir#"$common"}"
	# copy only the programs of PostgreSQL, since the folder can contain others
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
		die "the private copy of PostgreSQL does not find its files; it looks in $("$PG_CONFIG" --sharedir)"
}

# build_into FOLDER [FLAGS]: build the extension in a folder with the compiler flags, and
# install it into a private copy of PostgreSQL.  Set PG_CONFIG to the pg_config of the
# copy.  The checkout and the machine's PostgreSQL do not change.
build_into() {
	say "building for $("$PG_CONFIG" --version)"
	copy_checkout "$1/uuid9562"
	private_copy "$1/postgresql"
	make -s -j"$processors" -C "$1/uuid9562" ${CC:+"CC=$CC"} COPT="${2:-}" all
	make -s -C "$1/uuid9562" COPT="${2:-}" install >/dev/null
}

# build [FLAGS]: build the extension for the throwaway server.
build() {
	make_folder
	umask 022
	source=$server/uuid9562
	build_into "$server" "${1:-}"
	PATH=$(dirname "$PG_CONFIG"):$PATH
}

# --- throwaway server -------------------------------------------------------

# Run a command as the server's user.  This user is postgres if this script runs as root,
# since PostgreSQL refuses to run as root.
as_server_user() {
	if [ "$(id -u)" -eq 0 ]; then (cd "$server" && runuser -u postgres -- "$@"); else "$@"; fi
}

# Start a server that accepts connections only on a socket in its folder.  Compiling queries at run
# time (JIT) would take most of the time of the tests.
start_server() {
	local pg_config=$PG_CONFIG

	# ignore connection settings of the caller
	unset "${!PG@}"
	export PG_CONFIG=$pg_config PGHOST=$server PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	export LC_ALL=C.UTF-8
	as_server_user initdb -D "$server/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$server/initdb.log" 2>&1 ||
		{ cat "$server/initdb.log" >&2; die "initdb failed"; }
	cat >>"$server/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$server'
		fsync = off
		jit = off
		shared_buffers = 256MB
		max_wal_size = 4GB
	END
	# PostgreSQL 15 and 16 have ordered IDs only if the library is preloaded
	case $("$PG_CONFIG" --version) in
	*' 15'* | *' 16'*) echo "shared_preload_libraries = 'uuid9562'" >>"$server/data/postgresql.conf" ;;
	esac
	as_server_user pg_ctl -D "$server/data" -l "$server/log" -w start >"$server/pg_ctl.log" 2>&1 ||
		{ cat "$server/pg_ctl.log" "$server/log" >&2; die "the server did not start"; }
}

stop_server() {
	local status=$?

	trap '' INT TERM HUP
	trap - EXIT
	end_job
	end_heartbeat
	[ -n "$server" ] || exit "$status"
	# stop the servers of interrupted tests too
	find "$server" -name postmaster.pid 2>/dev/null | while read -r pid; do
		as_server_user pg_ctl -D "${pid%/*}" -m immediate stop >/dev/null 2>&1 || true
	done
	rm -rf "$server"
	exit "$status"
}

# copy_tests FOLDER: copy the tests of a folder that start their own servers, unless they are copied.
# The server's user may not have access to the checkout.
copy_tests() {
	local folder="$server/${1##*/}"

	[ ! -e "$folder" ] || return 0
	cp -R "$root/$1" "$folder"
	cp -R "$root/README.md" "$root/doc" "$root/examples" "$root/managed" "$root/test/t/ServerTest.pm" "$root/test/harness" "$folder"
	chmod -R a+rX "$folder"
	echo 'jit = off' >"$folder/settings"
	mkdir -p "$folder/cluster" "$folder/tmp"
	[ "$(id -u)" -ne 0 ] || chown postgres: "$folder" "$folder/cluster" "$folder/tmp"
}

# cluster_tests FOLDER [TEST...]: run tests that start their own servers, by default all
# tests of the folder.  On a busy machine, a server can need more than the minute for which
# pg_ctl waits by default, and PostgreSQL::Test::Cluster gives up if pg_ctl does.
cluster_tests() {
	local perl5lib pgxs tests folder="$server/${1##*/}"

	pgxs=$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")
	perl5lib=$pgxs/test/perl
	[ -f "$perl5lib/PostgreSQL/Test/Cluster.pm" ] || { echo "could not find PostgreSQL::Test::Cluster in $perl5lib"; return 1; }
	copy_tests "$1"
	shift
	tests=("${@/#/$folder/}")
	[ $# -gt 0 ] || tests=("$folder"/*.pl)
	(
		unset PGHOST PGPORT PGUSER PGDATABASE
		as_server_user env "PATH=$PATH" PGCTLTIMEOUT=180 "TMPDIR=$folder/tmp" "PERL5LIB=$folder:$perl5lib" "TESTDIR=$folder/cluster" \
			"TEMP_CONFIG=$folder/settings" "TESTDATADIR=$folder/cluster" "TESTLOGDIR=$folder/cluster/log" \
			"PG_REGRESS=$pgxs/test/regress/pg_regress" "PG_CONFIG=$PG_CONFIG" \
			prove --verbose --merge "${tests[@]}"
	)
}
