#!/bin/sh
# The gdb that knows i386: on another processor than a PC's that is gdb-multiarch, which a PC may have, too.

case $(uname -m) in
x86_64 | i?86) first=gdb second=gdb-multiarch ;;
*) first=gdb-multiarch second=gdb ;;
esac
gdb=$(command -v $first || command -v $second) || {
	echo "Neither gdb nor gdb-multiarch is here; \`make doctor\` says how to get it." >&2
	exit 1
}
exec "$gdb" "$@"
