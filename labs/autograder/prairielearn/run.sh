#!/usr/bin/env bash
# The entrypoint of PrairieLearn's external grader, in the image that the Dockerfile beside this makes. info.json beside
# this is an example of a question's (give it a UUID of its own); the question's tests/secret/, which may be absent, has
# the hidden tests. Whatever happens, results.json is there and says what.

set -u
root=${GRADE_ROOT:-/grade}
limit_s=${GRADE_LIMIT_S:-540} # must be less than the timeout in info.json
results=$root/results/results.json
scratch=$(mktemp -d)
PATH=/tidemark/build/venv/bin:$PATH

# failed TEXT: results.json, costing no attempt, with that text, and with what tidemark, if anything, said was wrong.
failed() {
	said=$(grep -as '^tidemark: ' "$scratch/log" | tail -n 3 | tr -cd '\n -~' | sed 's/[\\"]/\\&/g; s/^/\\n/' | tr -d '\n')
	printf '{"gradable": false, "format_errors": ["%s%s"]}\n' "$1" "$said" >"$results"
}

mkdir -p "$root/results"
failed 'Not graded: the autograder was stopped before it ended. Submit again, or tell your instructor.'
secret=()
[ ! -d "$root/tests/secret" ] || secret=(--secret "$root/tests/secret")
timeout --kill-after=20 "$limit_s" tidemark grade "${LAB:-}" --submission "$root/student" \
	"${secret[@]}" --json "$scratch/grade.json" 2>"$scratch/log"
status=$?
cat "$scratch/log"
case $status in
0) tidemark export-grade "$scratch/grade.json" --to prairielearn -o "$results" 2>&1 ||
	failed 'Graded, but the grade could not be written. Tell your instructor.' ;;
124 | 137) failed "Not graded: it took more than $limit_s seconds, or too much memory. Tell your instructor." ;;
*) failed "Not graded (status $status). Mend what is said here, or tell your instructor." ;;
esac
rm -r "$scratch"
