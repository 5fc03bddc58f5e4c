#!/usr/bin/env bash
# `make check`: the host tests given as arguments, then format and lint, then pytest, whose closing line is the last.
# TESTS chooses what pytest runs (files, -k WORD); everything is run, and any failure makes this fail. A student's release
# has no tests for pytest: those of its labs are run by `make grade`.

set -u
cd "$(dirname "$0")/.." || exit 1
export PATH=$PWD/build/venv/bin:$PATH
unset MAKEFLAGS MAKELEVEL MFLAGS
failed=()

check() {
	name=$1
	shift
	"$@" || failed+=("$name")
}

# Names the files that clang-format would change.
formatted() {
	mapfile -t sources < <(find boot kernel user tests tools labs -name '*.[ch]')
	[ ${#sources[@]} = 0 ] && return
	differing=$(clang-format --dry-run "${sources[@]}" 2>&1 | sed -n 's/^\([^: ]*\):[0-9].*/\1/p' | sort -u)
	[ -z "$differing" ] && return
	printf 'not formatted: %s\n' $differing
	echo "build/venv/bin/clang-format -i FILE mends it"
	return 1
}

for test; do
	echo "== $test"
	check "$test" "./$test"
done
echo '== format and lint'
check clang-format formatted
check 'ruff format' ruff format --quiet --check tools tests
check 'ruff check' ruff check --quiet tools tests
if [ -f labs/RELEASE ]; then
	echo '== labs'
	echo 'The tests of the labs: make grade LAB=NAME'
	[ ${#failed[@]} = 0 ] || echo "Failed, see above: ${failed[*]}"
	exit $(( ${#failed[@]} > 0 ))
fi
echo '== pytest'
[ ${#failed[@]} = 0 ] || echo "Failed before pytest, see above: ${failed[*]}"
python -m pytest ${TESTS:-tests}
status=$?
[ ${#failed[@]} = 0 ] || status=1
exit $status
