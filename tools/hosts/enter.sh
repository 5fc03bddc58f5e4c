#!/usr/bin/env bash
# tools/hosts/enter.sh ROOT namespaces|none COMMAND...: runs a command as root in the folder ROOT, as if ROOT were a machine's disk.
#
# Start it with `unshare --mount --pid --fork`: when the command ends, all its processes end too, and its mounts are gone.
# `namespaces`: ROOT becomes the root of the file systems, and programs may create namespaces, as bwrap does. `none`: ROOT is a
# chroot and root lacks CAP_SYS_ADMIN, so no process can create namespaces, as in most containers.

set -eu
root=$1 kind=$2
shift 2

device() { mknod -m 666 "$root/dev/$1" c "$2" "$3"; }

make_dev() {
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	device null 1 3
	device zero 1 5
	device full 1 7
	device random 1 8
	device urandom 1 9
	device tty 5 0
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s /proc/self/fd/0 "$root/dev/stdin"
	ln -s /proc/self/fd/1 "$root/dev/stdout"
	ln -s /proc/self/fd/2 "$root/dev/stderr"
}

mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
make_dev
if [ "$kind" = none ]; then
	exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin chroot "$root" "$@"
fi
cd "$root"
pivot_root . mnt
umount -l /mnt
exec "$@"
