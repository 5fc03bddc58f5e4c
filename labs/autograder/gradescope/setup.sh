#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder is uploaded: it installs packages and builds what grading
# starts from. The zip has these at its top:
#
#   setup.sh, run_autograder   from labs/autograder/gradescope
#   lab                        a file with the assignment's name, such as clock
#   tidemark.tar.gz            the instructor's tree: git archive --prefix=tidemark/ -o tidemark.tar.gz HEAD
#   secret/                    hidden tests, NAME.toml; may be absent

set -eu
cd "${AUTOGRADER_ROOT:-/autograder}/source"
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates make python3
[ ! -d secret ] || chmod -R go= secret
mkdir -p tidemark
tar -xzf tidemark.tar.gz --strip-components=1 -C tidemark
INSTALL=yes make -C tidemark grade-base
# Students' code may run as a user of its own here, which must find no solution.
rm tidemark.tar.gz
cd tidemark
for part in kernel labs build/kernel build/vmsim build/host build/labs build/*.elf; do
	[ ! -e "$part" ] || chmod -R o= "$part"
done
