#!/bin/sh
# `make gdb`: the debugger with the kernel's symbols, and those of the program PROG, attached to `make qemu-gdb`.

set -u
cd "$(dirname "$0")/../.." || exit 1
port=${GDBPORT:-1234}
if ! python3 -c "import socket, sys; socket.create_connection(('localhost', int(sys.argv[1])))" "$port" 2>/dev/null; then
	echo "Nothing listens on port $port: run \`make qemu-gdb\` in another terminal first." >&2
	exit 1
fi
kernel=build/tidemark.elf
set --
if [ "${IMAGE:-}" = reference ]; then
	kernel=build/reference-image/$kernel
	echo "The reference image has the functions' names, but no source lines and no types: for those and for the tm- commands," \
		'build this tree.'
elif [ -f "build/user/${PROG:-init}" ]; then set -- -ex "user-symbols ${PROG:-init}"; fi
exec tools/gdb/gdb.sh -q -x tools/gdb/init.gdb "$@" -ex "connect $port" "$kernel"
