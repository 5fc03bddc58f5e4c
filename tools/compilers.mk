# What differs between the compilers: gcc, and clang, which zig contains too (tools/zig). CC is what tools/setup.sh printed.
# tools/build.mk includes this.
#
# STRINGS    how gcc expands memset and memcpy inline; clang has no such option
# QUIET      clang does not know the attribute no_reorder, which it does not need, nor a warning that the sources turn off; it warns of
#            %hhd for an int, which a test of printf has, and of | between two functions that must both be called
# DWARF      in clang's DWARF 5 the name of a file that is compiled begins with ./, which gdb's commands do not expect; and clang adds
#            a section of address significance, which only one option of lld uses, and the grader does not know
# LINK       lld links for i386 on any system; it needs no -no-pie, which clang would mention
# LIBGCC, HELPERS    64-bit division for programs: libgcc, or the kernel's functions, compiled for programs
# TOOL       the name of nm, ar or strip, which the compiler finds

FAMILY := $(if $(findstring clang,$(CC)),clang,gcc)

VERSION_gcc = -dumpfullversion
VERSION_clang = -dumpversion
STRINGS_gcc := -mmemset-strategy=rep_4byte:-1:noalign -mmemcpy-strategy=rep_4byte:-1:noalign
QUIET_clang := $(addprefix -Wno-,unknown-attributes unknown-warning-option bitwise-instead-of-logical format)
DWARF_clang := -gdwarf-4 -fno-addrsig
LINK_clang := -fuse-ld=lld -Wno-unused-command-line-argument
LIBGCC_gcc := -lgcc
HELPERS_clang := build/obj/kernel/arch/x86/div64.o
TOOL_clang := llvm-

tool = "$$($(CC) -print-prog-name=$(TOOL_$(FAMILY))$1)"
