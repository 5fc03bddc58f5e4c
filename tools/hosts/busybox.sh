#!/bin/sh
# tools/hosts/busybox.sh zig|clang|reference [FOLDER]: README's first command on a machine with busybox's tools: no apt, dpkg or bash.
#
# That machine is this one with another PATH: a folder with busybox under the names of its tools, and make, python3, git and QEMU,
# with clang also clang and its tools. zig and clang start from a new clone, in FOLDER or a temporary one: zig is in the user's
# cache, or is fetched, and builds musl. reference boots the release's image in this tree. Prints the last line of the guest's.

set -eu
cd "$(dirname "$0")/../.."
kind=$1
folder=${2:-}
[ -n "$folder" ] || { folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT; }

need() { command -v "$1" || { echo "tools/hosts/busybox.sh needs $1" >&2; return 1; }; }

# A link or, where a program finds its files by its own place, the place itself.
busybox=$(need busybox)
mkdir "$folder/path"
for name in $($busybox --list); do
	case $name in bash | dpkg | dpkg-deb | rpm) ;; *) ln -s "$busybox" "$folder/path/$name" ;; esac
done
for name in make git qemu-system-i386; do ln -sf "$(need $name)" "$folder/path/$name"; done
ln -sf "$(python3 -c 'import sys; print(sys._base_executable)')" "$folder/path/python3"
if [ "$kind" = clang ]; then
	tools=$(dirname "$(clang -print-prog-name=llvm-nm)")
	for name in llvm-nm llvm-ar llvm-strip; do ln -sf "$tools/$name" "$folder/path/$name"; done
	ln -sf "$(need clang)" "$folder/path/clang"
	ln -sf "$(need ld.lld)" "$folder/path/ld.lld"
fi

tree=$PWD
if [ "$kind" = reference ]; then set -- IMAGE=reference
else
	set -- CC="$kind"
	tree="$folder/a clone"
	git clone -q . "$tree"
fi
cd "$tree"
printf 'uname -m\npoweroff\n' |
	PATH=$folder/path make --no-print-directory qemu "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
grep '^Tidemark, policy' "$folder/log" || { cat "$folder/log" >&2; exit 1; }
