# Functions for the scripts that work in trees: chroots with a suite of Debian, which debootstrap
# makes.  Source this file after common.sh.  The scripts require root on Debian, and some GB for the
# trees, which remain for the next run.  The environment variables are TREES (folder of the trees,
# default: /var/cache/uuid9562) and MIRROR (address of a mirror of Debian, default: the one that apt
# uses).

trees=${TREES:-/var/cache/uuid9562}

# cannot REASON: end the script, since trees cannot be used.
cannot() { die "$*"; }

# own_mounts ARGUMENT...: restart this script, with its arguments, in a mount namespace of
# its own.  Then the mounts of the script are invisible to other processes, and disappear
# when the script ends, even if it is killed.  If the script runs in a chroot whose root is
# not a mount point, its mounts are visible outside until it ends.
own_mounts() {
	local propagation

	[ "$(id -u)" -eq 0 ] || cannot "this requires root, to make and enter trees"
	if [ -z "${UUID9562_MOUNTS:-}" ]; then
		for propagation in private unchanged; do
			if unshare --mount --propagation $propagation true 2>/dev/null; then
				exec env UUID9562_MOUNTS=own unshare --mount --propagation $propagation "$0" "$@"
			fi
		done
		cannot "this requires mounting, which is not allowed here"
	fi
}

# leave_tree [TREE]: unmount everything in a tree, or in all trees.
leave_tree() {
	local mounted=() path

	while read -r _ path _; do
		# unmount the last mount first
		[[ $path != "${1:-$trees}"/* ]] || mounted=("$path" "${mounted[@]}")
	done </proc/self/mounts
	[ ${#mounted[@]} -eq 0 ] || umount "${mounted[@]}"
}

# Set $mirror to the mirror of Debian, and $suite to the suite of this machine.  Lock the
# folder of the trees.
open_trees() {
	local known

	has_apt || cannot "this requires Debian, or Ubuntu with a mirror of Debian as MIRROR"
	(install_packages debootstrap) || cannot "this requires debootstrap"
	# ignore suites with a hyphen, which contain only updates
	known=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Origin: Debian' | grep -v -e '-[a-z]*$' | sort -u || true)
	mirror=${MIRROR:-$(sed -n '1s/ .*//p' <<<"$known")}
	suite=$(. /etc/os-release && grep -x ".* ${VERSION_CODENAME:-}" <<<"$known" || sed 1q <<<"$known")
	suite=${suite##* }
	[ -n "$mirror" ] || cannot "apt has no mirror of Debian; set MIRROR"
	mkdir -p "$trees"
	exec 8<"$trees"
	if ! flock -n 8; then
		say "waiting for another script to finish in $trees"
		flock 8
	fi
}

# within TREE COMMAND...: run a command in a tree.
within() {
	local tree=$1

	shift
	chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
		${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} "$@" 8<&-
}

# make_tree SUITE TREE [ARCHITECTURE]: create a tree with the essential packages of a suite
# and apt, unless it exists.
make_tree() {
	local suite=$1 tree=$2 architecture=${3:-$(dpkg --print-architecture)}

	if [ ! -e "$tree/.made" ]; then
		rm -rf --one-file-system "$tree" && mkdir -p "$tree" || return 1
		# if debootstrap is older than the suite, let it use the script for sid
		[ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s sid "/usr/share/debootstrap/scripts/$suite" || return 1
		debootstrap --variant=minbase --arch="$architecture" "$suite" "$tree" "$mirror" && touch "$tree/.made" || return 1
	fi
	# use the network settings of this machine, and accept suites that are no longer updated
	echo "deb $mirror $suite main" >"$tree/etc/apt/sources.list" && cp /etc/resolv.conf /etc/hosts "$tree/etc/" &&
		{
			apt-config dump | grep '^Acquire::'
			echo 'Acquire::Check-Valid-Until "false";'
			# two programs can install packages in a tree at the same time
			echo 'DPkg::Lock::Timeout "600";'
			# sudo does not pass http_proxy to apt
			[ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
		} >"$tree/etc/apt/apt.conf.d/99uuid9562"
}

# prefer_experimental TREE MAJOR: let a tree of Debian unstable install a major version of PostgreSQL
# from Debian experimental, where it is before its first release.
prefer_experimental() {
	echo "deb $mirror experimental main" >"$1/etc/apt/sources.list.d/experimental.list" &&
		printf '%s\n' "Package: postgresql-$2* postgresql-*-$2 libpq*" 'Pin: release a=experimental' 'Pin-Priority: 990' \
			>"$1/etc/apt/preferences.d/uuid9562"
}

# enter_tree TREE: mount /proc and /dev in a tree, and prepare it for installing PostgreSQL
# without a default cluster.
enter_tree() {
	local tree=$1

	mountpoint -q "$tree/proc" ||
		{ mount -t proc proc "$tree/proc" && mount --bind /dev "$tree/dev" && mount -t tmpfs tmpfs "$tree/dev/shm"; } || return 1
	# without pseudo-terminals, the tests that need one are skipped
	mountpoint -q "$tree/dev/pts" || mount -t devpts devpts "$tree/dev/pts" || true
	# complete an installation that was interrupted in an earlier run
	within "$tree" dpkg --configure -a &&
		within "$tree" apt-get -q update &&
		within "$tree" apt-get -qq -y --no-install-recommends install postgresql-common &&
		mkdir -p "$tree/etc/postgresql-common/createcluster.d" &&
		echo 'create_main_cluster = false' >"$tree/etc/postgresql-common/createcluster.d/uuid9562.conf"
}
