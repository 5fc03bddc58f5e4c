#!/bin/sh
# new-policy.sh NAME COMPILER...   creates kernel/mm/policy/NAME.c, a policy of that name, from TEMPLATE.c.
# Overwrites nothing. The compiler, with the kernel's flags, checks whether the name is valid.

set -u
cd "$(dirname "$0")/../.." || exit 1
folder=kernel/mm/policy name=$1
max_length=16
shift

refuse() {
	printf 'new-policy: %s\n' "$1" >&2
	exit 2
}

[ -n "$name" ] || refuse 'give the policy a name: make new-policy NAME=mine'
case $name in [!abcdefghijklmnopqrstuvwxyz]* | *[!abcdefghijklmnopqrstuvwxyz0123456789_]*)
	refuse "NAME=$name: use a lower-case letter, then lower-case letters, digits and _, because function names begin with it" ;;
esac
[ ${#name} -le $max_length ] || refuse "NAME=$name: at most $max_length letters"
case $name in
template | *_test | *_ktest) refuse "NAME=$name: that name is taken, by the template or by tests" ;;
esac
[ ! -e "$folder/$name.c" ] || refuse "$folder/$name.c exists already and was not changed"
# A name that C or the policy's own header uses for something else does not compile.
compiled=$(mktemp) || exit 1
trap 'rm -f "$compiled"' EXIT
sed "s/template/$name/g" "$folder/TEMPLATE.c" >"$compiled" || exit 1
"$@" -fsyntax-only -x c "$compiled" 2>/dev/null ||
	refuse "NAME=$name: C, or mm/policy.h, uses that word itself"
cp -n "$compiled" "$folder/$name.c" && chmod 644 "$folder/$name.c" || exit 1
cat <<END
$folder/$name.c is yours. As it stands it is last in, first out. What to do with it:
  make sim VM=$name TRACE="1 2 3 4 1 2 5 1 2 3 4 5" FRAMES=3 EXPLAIN=1   watch it decide, on this machine
  make qemu VM=$name MEM=16M RUN="thrash 4 4096 4"                       run it in the kernel
  build/venv/bin/tidemark compare --vm $name                             against FIFO, CLOCK, 2Q, LRU and MIN
END
