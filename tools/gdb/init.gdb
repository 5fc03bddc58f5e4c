# What gdb needs to know about Tidemark; tools/gdb/start.sh loads it and connects to the waiting QEMU.

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
All programs are linked at the same addresses, so a plain breakpoint stops in every process that executes that
address, even if the symbols loaded belong to another program: user-break stops in one program only.
end

define user-break
	break $arg1 if $_streq(current_task->comm, "$arg0")
end
document user-break
user-break NAME PLACE: stop at PLACE (thrash.c:main, thrash.c:80) in processes that run the program NAME.
end

define connect
	target remote localhost:$arg0
end
document connect
connect PORT: attach to the QEMU that `make qemu-gdb` started.
end

# The tm- commands: `tm` lists them. They need a gdb with Python. Without it, everything above works.
source tools/gdb/load.py
