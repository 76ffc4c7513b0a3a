# Functions for the scripts that need a server with assertions.  Source this file after common.sh.
# The environment variable SERVERS names the folder that keeps the servers for the next run
# (default: /var/cache/uuid9562).

servers=${SERVERS:-/var/cache/uuid9562}
crash='TRAP:|PANIC:|terminated by signal'	# pattern of the log lines of a crash

# source_into FOLDER: download the newest available source package of PostgreSQL $major
# into a folder, and unpack it.
source_into() {
	local apt version

	mkdir "$1/lists" "$1/parts" "$1/source"
	apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) main' 'Created-By: Packages' | sort -u >"$1/list"
	apt=(-o "Dir::Etc::SourceList=$1/list" -o "Dir::Etc::SourceParts=$1/parts" -o "Dir::State::Lists=$1/lists" -o APT::Sandbox::User=root)
	apt-get -q "${apt[@]}" update
	for version in $(apt-cache "${apt[@]}" showsrc "postgresql-$major" | sed -n 's/^Version: //p' | sort -Vru); do
		if (cd "$1" && apt-get -q "${apt[@]}" --download-only source "postgresql-$major=$version"); then
			tar xf "$1"/postgresql-*.orig.tar.* --strip-components=1 -C "$1/source"
			return
		fi
	done
	return 1
}

# server_with_assertions NAME FLAGS: set PG_CONFIG to the pg_config of a server that is
# built with assertions and with the compiler flags.  The server has the major version of
# the PostgreSQL that PG_CONFIG selected before.  Build the server if it does not exist, or
# if it was built with other flags or from another minor version.  The folder "suites" of
# the server contains PostgreSQL's regression tests.
server_with_assertions() {
	local prefix=$servers/postgresql-$major-$1 packaged=$PG_CONFIG folder log made status=0

	mkdir -p "$servers"
	exec 9>"$servers/.lock"
	flock 9
	made="$("$packaged" --version), $2"
	if [ "$made" != "$(cat "$prefix/.made" 2>/dev/null)" ]; then
		say "building $prefix"
		! has_apt || install_packages gcc libc6-dev make bison bzip2 flex perl libipc-run-perl pkg-config \
			libicu-dev libssl-dev liblz4-dev zlib1g-dev uuid-dev
		! has_apt || has_pgtap || install_packages "postgresql-$major-pgtap"
		folder=$(mktemp -d /var/tmp/uuid9562.XXXXXX)
		log=$folder/log
		rm -rf "$prefix"
		(source_into "$folder" && cd "$folder/source" &&
			./configure --prefix="$prefix" --enable-cassert --enable-debug --enable-tap-tests --without-readline \
				--with-icu --with-openssl --with-lz4 --with-uuid=e2fs CFLAGS="-O1 -g $2" &&
			make -s -j"$(nproc)" && make -s install && make -s -C contrib -j"$(nproc)" install &&
			make -s -C src/test/regress && make -s -C src/test/isolation && mkdir "$prefix/suites" &&
			cp -R src/test/regress src/test/isolation "$prefix/suites/" && cp src/tools/valgrind.supp "$prefix/" &&
			cp "$("$packaged" --sharedir)"/extension/pgtap* "$("$prefix/bin/pg_config" --sharedir)/extension/" &&
			chmod -R a+rX "$prefix" && echo "$made" >"$prefix/.made") >"$log" 2>&1 || { tail -n 20 "$log" >&2; status=1; }
		rm -rf "$folder"
		[ "$status" -eq 0 ] || die "no server could be built for $1"
	fi
	exec 9>&-
	PG_CONFIG=$prefix/bin/pg_config
	PATH=$prefix/bin:$PATH
}

# Set PG_CONFIG to the pg_config of a server with assertions, unless the selected server has
# assertions.  With EXEC_BACKEND, this server starts each process as on Windows: as a new
# program, which finds shared memory at the same address and loads the libraries again.
# This is reliable only if the system does not randomize addresses.  pg_ctl disables the
# randomization, but a container may forbid that.
need_assertions() {
	local flags=-DEXEC_BACKEND

	[[ $("$PG_CONFIG" --configure) != *--enable-cassert* ]] || return 0
	if ! setarch -R true 2>/dev/null; then
		say "this machine does not let programs fix their addresses: no EXEC_BACKEND"
		flags=
	fi
	server_with_assertions asserts "$flags"
}
