#!/bin/sh
# tools/locked.sh COMMAND...: runs it while no other make builds in this tree; if one does, says so and waits.

set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '%s\n' "$*" >&2; }

mkdir -p build 2>/dev/null
# In a subshell, because a POSIX shell ends if exec cannot open a file.
if ! (: >>build/.lock) 2>/dev/null; then
	# A build that is complete can be used even in a read-only tree.
	"$@" && exit
	status=$?
	say "This tree cannot be written to ($PWD/build), so nothing can be built here. Make it writable, or copy it:" \
		"cp -r '$PWD' COPY"
	exit $status
fi
exec 9>>build/.lock
# lock [-n]: takes the lock, which this shell's descriptor holds; -n fails if another has it. macOS has no flock(1).
lock() {
	if command -v flock >/dev/null; then flock "$@" 9
	else python3 -c "import fcntl, sys; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB * len(sys.argv[1:]))" "$@" 2>/dev/null; fi
}
if ! { lock -n || { sleep 1 && lock -n; }; }; then
	say 'Another make is building in this tree; waiting for it to end ...'
	lock
fi
exec "$@"
