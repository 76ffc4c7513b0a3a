# What the commands share that work in trees of Debian's suites, made by debootstrap.
# Sourced after common.sh by bash with -euo pipefail.  They need root on Debian, and
# some GB in TREES (/var/cache/uuid9562), where the trees are kept for the next run.
# MIRROR names a mirror of Debian, if not the one that apt has.

trees=${TREES:-/var/cache/uuid9562}

# Ends the command, for want of what trees need.
cannot() { die "$*"; }

# What is mounted into the trees is seen by this command alone, and gone with it, also
# if it is killed; in a plain chroot, whose root is no mount that could be made private,
# it is seen outside until the command ends.  Pass the command's own arguments: it starts
# anew.
own_mounts() {
	local propagation

	[ "$(id -u)" -eq 0 ] || cannot "this needs root, to make trees and go into them"
	if [ -z "${UUID9562_MOUNTS:-}" ]; then
		for propagation in private unchanged; do
			if unshare --mount --propagation $propagation true 2>/dev/null; then
				exec env UUID9562_MOUNTS=own unshare --mount --propagation $propagation "$0" "$@"
			fi
		done
		cannot "this needs to mount, which is not allowed here"
	fi
}

# Unmount what is mounted into the tree $1, or without it into any.
leave_tree() {
	local mounted=() path

	while read -r _ path _; do
		# the last one mounted first
		[[ $path != "${1:-$trees}"/* ]] || mounted=("$path" "${mounted[@]}")
	done </proc/self/mounts
	[ ${#mounted[@]} -eq 0 ] || umount "${mounted[@]}"
}

# The mirror that apt has, the suite of this machine, and the folder of the trees for
# this command alone.
open_trees() {
	local known

	has_apt || cannot "this needs Debian, or Ubuntu with a mirror of Debian as MIRROR"
	(install_packages debootstrap) || cannot "this needs debootstrap"
	# suites with a hyphen are updates, security and experimental
	known=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Origin: Debian' | grep -v -e '-[a-z]*$' | sort -u || true)
	mirror=${MIRROR:-$(sed -n '1s/ .*//p' <<<"$known")}
	suite=$(. /etc/os-release && grep -x ".* ${VERSION_CODENAME:-}" <<<"$known" || sed 1q <<<"$known")
	suite=${suite##* }
	[ -n "$mirror" ] || cannot "apt knows no mirror of Debian; name one as MIRROR"
	mkdir -p "$trees"
	exec 8<"$trees"
	if ! flock -n 8; then
		say "waiting for another of these commands to finish in $trees"
		flock 8
	fi
}

# In the tree $1.
within() {
	local tree=$1

	shift
	chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
		${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} "$@" 8<&-
}

# make_tree SUITE TREE [ARCHITECTURE]: a tree with nothing but the suite's essential
# packages and apt, where it is not there yet.
make_tree() {
	local suite=$1 tree=$2 architecture=${3:-$(dpkg --print-architecture)}

	if [ ! -e "$tree/.made" ]; then
		rm -rf --one-file-system "$tree" && mkdir -p "$tree" || return 1
		# a debootstrap older than the suite does as for sid
		[ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s sid "/usr/share/debootstrap/scripts/$suite" || return 1
		debootstrap --variant=minbase --arch="$architecture" "$suite" "$tree" "$mirror" && touch "$tree/.made" || return 1
	fi
	# how this machine reaches its mirror today, and suites that are no longer renewed
	echo "deb $mirror $suite main" >"$tree/etc/apt/sources.list" && cp /etc/resolv.conf /etc/hosts "$tree/etc/" &&
		{ apt-config dump | grep '^Acquire::'; echo 'Acquire::Check-Valid-Until "false";'; } >"$tree/etc/apt/apt.conf.d/99uuid9562"
}

# Ready to install PostgreSQL in, without a cluster of its own.
enter_tree() {
	local tree=$1

	mountpoint -q "$tree/proc" ||
		{ mount -t proc proc "$tree/proc" && mount --bind /dev "$tree/dev" && mount -t tmpfs tmpfs "$tree/dev/shm"; } || return 1
	# an earlier run may have been interrupted
	within "$tree" dpkg --configure -a &&
		within "$tree" apt-get -q update &&
		within "$tree" apt-get -qq -y --no-install-recommends install postgresql-common &&
		mkdir -p "$tree/etc/postgresql-common/createcluster.d" &&
		echo 'create_main_cluster = false' >"$tree/etc/postgresql-common/createcluster.d/uuid9562.conf"
}
