#!/usr/bin/env bash
# `make gdb`: the debugger with the kernel's symbols, and those of the program PROG, attached to `make qemu-gdb`.

set -u
cd "$(dirname "$0")/../.." || exit 1
port=${GDBPORT:-1234}
if ! (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null; then
	echo "Nothing listens on port $port: run \`make qemu-gdb\` in another terminal first." >&2
	exit 1
fi
symbols=()
[ -f "build/user/${PROG:-init}" ] && symbols=(-ex "user-symbols ${PROG:-init}")
exec tools/gdb/gdb.sh -q -x tools/gdb/init.gdb "${symbols[@]}" -ex "connect $port" build/tidemark.elf
