#!/usr/bin/env bash
# tools/hosts/compilers.sh [FOLDER]: the points of all solutions and their variants, with each compiler that builds the kernel.
#
# For gcc, clang and zig a new clone is built in FOLDER or a temporary one, and everything is graded there. The points must be the
# same. FOLDER keeps them (points-gcc and so on), and the same command continues with the compilers that are missing.

set -eu
cd "$(dirname "$0")/../.."
folder=${1:-}
[ -n "$folder" ] || { folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT; }
mkdir -p "$folder"

for cc in gcc clang zig; do
	[ ! -s "$folder/points-$cc" ] || continue
	rm -rf "$folder/tree"
	git clone -q . "$folder/tree"
	(
		cd "$folder/tree"
		[ $cc = gcc ] || export CC=$cc
		make --no-print-directory ${CC:+CC="$CC"} grade-base
		PYTHONPATH=tools:tests/support build/venv/bin/python -m points >"$folder/points"
	) >"$folder/log-$cc" 2>&1 || { tail "$folder/log-$cc" >&2; exit 1; }
	cp "$folder/points" "$folder/points-$cc"
done
cat "$folder"/points-* | sort | uniq -c | awk '
	$1 != 3 { print $2, $3, $4 ": " $1 " of 3 compilers"; bad++ }
	END { if (!bad) print NR " solutions and variants get the same points with gcc, clang and zig"; exit bad > 0 }'
