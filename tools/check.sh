#!/usr/bin/env bash
# tools/check.sh check|soak: what `make check` and `make soak` run once all is built.
#
# check: the host tests, format, lint and types, side by side; then pytest, whose closing line is the last. soak: the tests that
# are marked soak, which take long, so one line for each; with MINUTES, drawn runs alone for so long (tests/support/swarm).
# TESTS chooses what pytest runs (files, -k WORD); everything is run, and any failure makes this fail. A student's release has
# no tests for pytest: `make grade` runs those of its labs.

set -u
cd "$(dirname "$0")/.." || exit 1
export PATH=$PWD/build/venv/bin:$PATH
unset MAKEFLAGS MAKELEVEL MFLAGS
# Hundreds of commands are started: each would compile the modules of tools/ anew.
unset PYTHONDONTWRITEBYTECODE
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
failed=()

# Each host test writes into a file of its own; those that fail are shown.
host_tests() {
	find kernel -name '*_test.c' | sed 's/\.c$//' | LC_ALL=C sort >"$logs/tests"
	xargs -P "$(nproc)" -I{} sh -c 'log=$1/$(echo "$2" | tr / -); "build/host/$2" >"$log" 2>&1 || echo "$2"' - "$logs" {} \
		<"$logs/tests" >"$logs/failing"
	while IFS= read -r name; do
		echo "== build/host/$name"
		cat "$logs/${name//\//-}"
	done <"$logs/failing"
	echo "host tests: $(wc -l <"$logs/tests") programs, $(wc -l <"$logs/failing") failed"
	[ ! -s "$logs/failing" ]
}

# Names the files that clang-format would change.
formatted() {
	differing=$(find boot kernel user tests tools labs -name '*.[ch]' -print0 |
		xargs -0 -P "$(nproc)" -n 50 clang-format --dry-run 2>&1 | sed -n 's/^\([^:]*\):[0-9].*/\1/p' | sort -u)
	[ -z "$differing" ] && return
	printf 'not formatted:\n%s\n' "$differing"
	echo "build/venv/bin/clang-format -i FILE mends it"
	return 1
}

# The same of Python, and lint.
python_is_tidy() {
	ruff format --quiet --check tools tests && ruff check --quiet tools tests && return
	echo "build/venv/bin/ruff format FILE mends the format, build/venv/bin/ruff check --fix FILE much of the rest"
	return 1
}

# JavaScript, where npm has fetched the tool for it.
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
	mypy --no-error-summary >"$logs/mypy" 2>&1 & types=$!
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
	while read -r word; do arguments+=($word); done <"$logs/words"
}

arguments=()
words
if [ "$1" = soak ] && [ "${MINUTES:-}" ]; then
	export PYTHONPATH=tools:tests/support
	exec nice python -m swarm --minutes "$MINUTES" --seed "${SEED:-1}"
fi
if [ "$1" = soak ]; then
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
echo '== pytest'
[ ${#failed[@]} = 0 ] || echo "Failed before pytest, see above: ${failed[*]}"
python -m pytest "${arguments[@]}"
status=$?
[ ${#failed[@]} = 0 ] || status=1
exit $status
