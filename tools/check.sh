#!/usr/bin/env bash
# tools/check.sh check|soak [MAKE...]: builds what is needed, by the command MAKE and targets, and runs the tests.
#
# check: the host tests, format, lint and types, side by side; then pytest, whose closing line is the last. soak: the tests that
# are marked soak, which take long, so one line for each; with MINUTES, only random runs, for that time (tests/support/swarm).
# It also lists the figures of the documents that the reference image did not make, without failing.
# TESTS chooses: files and options for pytest, and host tests (kernel/lib/rbtree_test.c). Then only what these need is built; the host
# tests are those chosen and those beside changed C files; format is checked of changed files, and types if Python of the lab has changed.
# Everything chosen is run, and any failure makes this fail. A student's release has no tests for pytest: `make grade` runs those of
# its labs.

if [ "${BASH_VERSINFO[0]}" -lt 4 ]; then
	echo "This is bash $BASH_VERSION, and the tests need bash 4.4 or later, first in PATH; on macOS: brew install bash" >&2
	exit 1
fi
set -u
cd "$(dirname "$0")/.." || exit 1
export PATH=$PWD/build/venv/bin:$PATH
# Hundreds of commands are started: without cached bytecode each would compile the modules of tools/ again.
unset PYTHONDONTWRITEBYTECODE
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
mode=$1
shift
build=("$@")
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
failed=()

# What git says has changed since the last commit; all files where there is no git, or without TESTS.
changed() {
	if [ "${TESTS:-}" ] && git rev-parse HEAD >/dev/null 2>&1; then
		{ git diff --name-only --diff-filter=d HEAD && git ls-files --others --exclude-standard; } | LC_ALL=C sort
	else
		find boot kernel user tests tools labs -type f
	fi
}

# The host tests to be run, as kernel/lib/rbtree_test: those chosen, and those in the folders of changed C files.
chosen_host_tests() {
	local folders
	folders=$(changed | sed -n 's,^\(kernel/.*\)/[^/]*\.[ch]$,\1,p' | sort -u)
	{
		[ ${#hosted[@]} = 0 ] || printf '%s\n' "${hosted[@]%.c}"
		for folder in $folders; do find "$folder" -maxdepth 1 -name '*_test.c' | sed 's/\.c$//'; done
	} | LC_ALL=C sort -u
}

# Each host test writes to its own log; the logs of failed tests are shown.
host_tests() {
	xargs -P "$jobs" -I{} sh -c 'log=$1/$(echo "$2" | tr / -); "build/host/$2" >"$log" 2>&1 || echo "$2"' - "$logs" {} \
		<"$logs/tests" >"$logs/failing"
	while IFS= read -r name; do
		echo "== build/host/$name"
		cat "$logs/${name//\//-}"
	done <"$logs/failing"
	[ "${TESTS:-}" ] && [ ! -s "$logs/tests" ] || echo "host tests: $(wc -l <"$logs/tests") programs, $(wc -l <"$logs/failing") failed"
	[ ! -s "$logs/failing" ]
}

# Names the files that clang-format would change.
formatted() {
	differing=$(changed | grep '\.[ch]$' | tr '\n' '\0' |
		xargs -0 -r -P "$jobs" -n 50 clang-format --dry-run 2>&1 | sed -n 's/^\([^:]*\):[0-9].*/\1/p' | sort -u)
	[ -z "$differing" ] && return
	printf 'not formatted:\n%s\n' "$differing"
	echo "build/venv/bin/clang-format -i FILE mends it"
	return 1
}

# Is Python formatted, and does the linter accept it?
python_is_tidy() {
	ruff format --quiet --check tools tests && ruff check --quiet tools tests && return
	echo "build/venv/bin/ruff format FILE mends the format, build/venv/bin/ruff check --fix FILE much of the rest"
	return 1
}

# Types, of all the lab: a change shows in other files, too.
typed() {
	[ "$(changed | grep -c '^tools/tidemark/.*\.py$')" = 0 ] || mypy --no-error-summary
}

# JavaScript, if npm has installed prettier.
page_is_tidy() {
	prettier=build/npm/node_modules/prettier/bin/prettier.cjs
	[ -f $prettier ] || return 0
	node $prettier --check --log-level warn 'tools/page/**/*.{js,mjs}' && return
	echo "node $prettier --write FILE mends it"
	return 1
}

# Runs its arguments beside others; collect NAME PID waits for it, and shows what it said.
collect() {
	wait "$2" || failed+=("$1")
	cat "$logs/$1"
}

before_pytest() {
	host_tests >"$logs/host" 2>&1 & host=$!
	formatted >"$logs/clang-format" 2>&1 & format=$!
	python_is_tidy >"$logs/ruff" 2>&1 & ruff=$!
	typed >"$logs/mypy" 2>&1 & types=$!
	page_is_tidy >"$logs/prettier" 2>&1 & page=$!
	echo '== host tests, format, lint and types'
	collect host $host
	collect clang-format $format
	collect ruff $ruff
	collect mypy $types
	collect prettier $page
}

# TESTS as words: quotes hold a word together as in a shell, and nothing is executed. Names may have * in them.
words() {
	printf '%s\n' "${TESTS:-tests}" | xargs -n 1 printf '%s\n' >"$logs/words" || { echo "TESTS=$TESTS: a quote is not closed"; exit 1; }
	local IFS= word
	while read -r word; do
		case $word in
		kernel/*_test | kernel/*_test.c) hosted+=($word) ;;
		*) arguments+=($word) ;;
		esac
	done <"$logs/words"
}

# Is this a file of tests, or one of its tests, that says that it needs nothing built?
is_unbuilt() { grep -qsxF 'pytestmark = pytest.mark.unbuilt' "${1%%::*}"; }

# The targets that the chosen tests need. Options of pytest alone, such as -k, choose among all.
needs() {
	local word all=yes
	for word in "${arguments[@]}" "${hosted[@]}"; do
		case $word in
		-*) continue ;;
		tests/*.py*) if is_unbuilt "$word"; then all= && continue; fi ;;&
		kernel/*_test | kernel/*_test.c) ;; # only itself
		tests/docs* | tests/structure* | kernel/*) echo all ;;
		tests/lab* | tests/gdb*) echo grade-base ;;
		tests/kernel* | tests/grade*) echo test-base ;;
		tests*) echo check-base ;;
		*) continue ;;
		esac
		all=
	done
	[ -z "$all" ] || echo check-base
	[ -z "${TESTS:-}" ] || sed 's,^,build/host/,' "$logs/tests"
}

arguments=() hosted=()
words
chosen_host_tests >"$logs/tests"
if [ ${#build[@]} != 0 ]; then
	if [ "$mode" = soak ]; then targets=check-base; else targets=$(needs | sort -u); fi
	[ -z "$targets" ] || tools/locked.sh "${build[@]}" -s $targets || exit 1
fi
unset MAKEFLAGS MAKELEVEL MFLAGS
if [ "$mode" = soak ] && [ "${MINUTES:-}" ]; then
	export PYTHONPATH=tools:tests/support
	exec nice python -m swarm --minutes "$MINUTES" --seed "${SEED:-1}"
fi
if [ "$mode" = soak ]; then
	echo '== pytest, the long proofs'
	python -m pytest -m soak -vv --timeout=3600 "${arguments[@]}"
	status=$?
	[ $status != 5 ] || { echo 'None of these tests is marked soak.'; status=0; }
	exit $status
fi
before_pytest
if [ -f labs/RELEASE ]; then
	echo '== labs'
	echo 'The tests of the labs: make grade LAB=NAME'
	[ ${#failed[@]} = 0 ] || echo "Failed, see above: ${failed[*]}"
	exit $(( ${#failed[@]} > 0 ))
fi
if [ "${TESTS:-}" ] && [ ${#arguments[@]} = 0 ]; then
	[ ${#failed[@]} = 0 ] || echo "Failed, see above: ${failed[*]}"
	exit $((${#failed[@]} > 0))
fi
[ "${TESTS:-}" ] || PYTHONPATH=tools python -m figures --stale || true
echo '== pytest'
[ ${#failed[@]} = 0 ] || echo "Failed before pytest, see above: ${failed[*]}"
python -m pytest "${arguments[@]}"
status=$?
[ ${#failed[@]} = 0 ] || status=1
exit $status
