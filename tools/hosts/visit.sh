#!/usr/bin/env bash
# tools/hosts/visit.sh USER package|source: runs on a machine of `make hosts`, as root in the clone's folder: README's two
# commands as the user, and the points of all solutions, which go to /points. It reports each step on descriptor 3.

user=$1 musl=$2
POINTS='^[a-z0-9]+ [a-z0-9_]+ [0-9.]+/[0-9.]+$' # a line of tests/support/points.py
cd "$(dirname "$0")/../.." || exit 1

as_user() {
	local home=/home/$user path=/usr/local/bin:/usr/bin:/bin
	[ "$user" != root ] || home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups \
		env HOME="$home" USER="$user" LOGNAME="$user" PATH=$path "$@" 3>&-
}

# step WHAT PATTERN COMMAND...: runs the command; reports the result with the last output line that matches the pattern.
step() {
	local what=$1 shows=$2 started=$SECONDS status
	shift 2
	printf '== %s\n' "$what"
	as_user "$@" </dev/null 2>&1 | tee /tmp/step
	status=${PIPESTATUS[0]}
	printf '  %s: %s, %d s\n' "$what" "$([ "$status" = 0 ] && grep -E "$shows" /tmp/step | tail -n 1 || echo "failed ($status)")" \
		$((SECONDS - started)) >&3
	return "$status"
}

step 'make qemu' '^Tidemark,' sh -c "echo poweroff | make --no-print-directory qemu MUSL_FROM=$musl" &&
	step 'make check' ' passed' make --no-print-directory check MUSL_FROM="$musl" &&
	step 'points' "$POINTS" env PYTHONPATH=tools:tests/support build/venv/bin/python -m points &&
	grep -E "$POINTS" /tmp/step >/points
