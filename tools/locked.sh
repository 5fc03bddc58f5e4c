#!/bin/sh
# tools/locked.sh COMMAND...: runs it while no other make builds in this tree; if one does, says so and waits.

set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '%s\n' "$*" >&2; }

mkdir -p build 2>/dev/null
if ! { exec 9>>build/.lock; } 2>/dev/null; then
	# A build that is complete can be used even in a read-only tree.
	"$@" && exit
	status=$?
	say "This tree cannot be written to ($PWD/build), so nothing can be built here. Make it writable, or copy it:" \
		"cp -r '$PWD' COPY"
	exit $status
fi
if command -v flock >/dev/null && ! flock -w 1 9; then
	say 'Another make is building in this tree; waiting for it to end ...'
	flock 9
fi
exec "$@"
