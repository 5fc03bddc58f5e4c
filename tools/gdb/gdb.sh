#!/bin/sh
# Finds a gdb that supports i386: gdb on a PC, gdb-multiarch on another processor; a PC may have either or both.

case $(uname -m) in
x86_64 | i?86) first=gdb second=gdb-multiarch ;;
*) first=gdb-multiarch second=gdb ;;
esac
gdb=$(command -v $first || command -v $second) || {
	echo "Neither gdb nor gdb-multiarch is here; \`make doctor\` says how to get it." >&2
	exit 1
}
exec "$gdb" "$@"
