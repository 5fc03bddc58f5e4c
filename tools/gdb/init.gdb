# What gdb needs to know of Tidemark; tools/gdb/start.sh loads it and connects to the waiting QEMU.

set confirm off
set pagination off
set architecture i386
set disassemble-next-line auto
set print pretty on

define user-symbols
	add-symbol-file build/user/$arg0
end
document user-symbols
user-symbols NAME: load the symbols of the program build/user/NAME.
Programs are linked at the same addresses, so a breakpoint in one is met by any process that executes that
address; `break NAME.c:main` names the right source, and `info symbol $pc` after `bt` shows where you are.
end

define connect
	target remote localhost:$arg0
end
document connect
connect PORT: attach to the QEMU that `make qemu-gdb` started.
end
