#!/usr/bin/env bash
# run.sh LAB SUBMISSION: grade a submission for Autolab, which shows students the whole output. The last line is always
# the autoresult, also after an error; the lines before it report the tests or the error.

set -u
lab=$1 submission=$2
limit_s=${GRADE_LIMIT_S:-540} # must be less than the assessment's timeout
scratch=$(mktemp -d)
exec 2>"$scratch/log"
PATH=/opt/tidemark/build/venv/bin:$PATH

# failed TEXT: that text, what tidemark, if anything, said was wrong, and no points.
failed() {
	echo "$1"
	grep -as '^tidemark: ' "$scratch/log" | tail -n 3 | tr -cd '\n -~'
	printf '{"scores": {"%s": 0}}\n' "$lab"
}

secret=()
[ ! -d secret ] || secret=(--secret secret)
timeout --kill-after=20 "$limit_s" tidemark grade "$lab" --submission "$submission" \
	"${secret[@]}" --json "$scratch/grade.json" --quiet >/dev/null
status=$?
case $status in
0) tidemark export-grade "$scratch/grade.json" --to autolab -o "$scratch/report" &&
	cat "$scratch/report" || failed 'Graded, but the grade could not be written. Tell your instructor.' ;;
124 | 137) failed "Not graded: it took more than $limit_s seconds, or too much memory. Tell your instructor." ;;
*) failed "Not graded (status $status). Mend what is said here, or tell your instructor." ;;
esac
rm -r "$scratch"
