# How the files in build/ are made. The Makefile calls this, holding the lock, with the variables, with CC and CCACHE.
.DELETE_ON_ERROR:
.SUFFIXES:

Q = $(if $(V),,@)
say = @printf '  %-5s %s\n' $1 '$2'
comma := ,
# Writes a command's output to the target, unless the target has that content already.
if_new = $1 | cmp -s - $@ || $1 >$@

# --- the kernel ------------------------------------------------------------------------------------------------------

KERNEL_SRC := $(sort $(shell find boot kernel -name '*.[cS]' ! -name '*_test.c' ! -name TEMPLATE.c ! -path '*/vdso/*'))
REGISTRY := $(patsubst %,build/registry/%.c,policy guard)
KERNEL_OBJ := $(patsubst %,build/%.o,$(basename $(KERNEL_SRC))) $(REGISTRY:.c=.o)
# A program is a source file, or a folder with a main.c.
USER_SRC := $(wildcard user/*.c user/workloads/*.c user/conformance/*.c) $(patsubst %/main.c,%,$(wildcard user/*/main.c))
USER_PROG := $(addprefix build/user/,$(basename $(notdir $(USER_SRC))))
USER_FILES := $(wildcard user/*.c user/*/*.c)
POLICIES := $(filter-out TEMPLATE %_test %_ktest,$(basename $(notdir $(wildcard kernel/mm/policy/*.c))))

include tools/compilers.mk
ERRORS := $(addprefix -Werror=,implicit-function-declaration implicit-int int-conversion incompatible-pointer-types return-type)
COMMON := -std=gnu11 -march=i686 -O2 -g -fno-pie -Wall -Wextra $(ERRORS) $(QUIET_$(FAMILY)) $(DWARF_$(FAMILY))
KFLAGS := $(COMMON) -Wmissing-prototypes -mregparm=3 -ffreestanding -fno-stack-protector -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing $(STRINGS_$(FAMILY)) -mno-mmx -mno-sse -mno-80387 -Ikernel/include
LDFLAGS := -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,--build-id=none -Wl,-z,noexecstack $(LINK_$(FAMILY))
STRICT := $(if $(WERROR),-Werror)
# The output is the same in whatever folder the tree is. The shell expands its name, because make would split it at blanks.
COMPILE = $(CCACHE) $(CC) "-ffile-prefix-map=$$PWD=." $(STRICT)
SAVED = $(if $(SAVE_TEMPS),-save-temps=obj)
all: build/tidemark.elf build/initramfs.cpio

# Files that change only if their content does: the compiler with its flags, the programs, the kernel's sources.
build/flags build/programs build/sources build/user-files: FORCE
	@mkdir -p build && { $(call if_new,printf '%s\n' "$($(@F))"); }
build/flags: flags = $(CC) $(shell $(CC) $(VERSION_$(FAMILY))) $(KFLAGS) $(LDFLAGS) $(UFLAGS) $(ULDFLAGS)
build/programs: programs = $(USER_PROG) $(EXTRA)
build/sources: sources = $(KERNEL_SRC)
build/user-files: user-files = $(USER_FILES)

# The name under which a policy or a guard is registered (tools/registry.awk) begins with the name of its file.
VM_FILE = $(if $(filter kernel/mm/policy/% kernel/mm/guard/%,$<),-DVM_FILE=$(subst .,_,$(subst -,_,$(basename $(notdir $<)))))

build/%.o: %.c build/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$Q$(COMPILE) $(KFLAGS) $(VM_FILE) $(SAVED) -MMD -MP -c -o $@ $<

build/%.o: %.S build/flags
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$Q$(COMPILE) $(KFLAGS) -MMD -MP -c -o $@ $<

# The tables of policies and guards, generated from what the files in their folders register.
$(REGISTRY): build/registry/%.c: tools/registry.awk FORCE
	@mkdir -p $(@D)
	$Q$(call if_new,awk -v kind=$* -f $< $(filter kernel/mm/$*/%,$(KERNEL_SRC)))

$(REGISTRY:.c=.o): build/%.o: build/%.c build/flags
	$Q$(COMPILE) $(KFLAGS) -MMD -MP -c -o $@ $<

build/ksyms.o build/ksyms0.o: build/%.o: build/%.S
	$Q$(COMPILE) $(KFLAGS) -c -o $@ $<

NM = $(call tool,nm) -n

build/ksyms0.S: tools/ksyms.awk build/flags
	$Qawk -f tools/ksyms.awk </dev/null >$@

build/ksyms.S: build/pass1.elf tools/ksyms.awk
	$Q$(NM) $< >$@.nm && awk -f tools/ksyms.awk $@.nm >$@

build/pass1.elf: $(KERNEL_OBJ) build/ksyms0.o linker.ld build/sources
	$Q$(CC) $(LDFLAGS) -o $@ $(KERNEL_OBJ) build/ksyms0.o

# The second link must not move any function that the table of names describes.
build/tidemark.elf: build/ksyms.o build/pass1.elf
	$(call say,LD,$@)
	$Q$(CC) $(LDFLAGS) -o $@ $(KERNEL_OBJ) build/ksyms.o
	$Q$(NM) $@ >$@.nm && awk -f tools/ksyms.awk $@.nm | cmp -s - build/ksyms.S || \
		{ echo "$@: functions moved when their names were added" >&2; rm -f $@; exit 1; }

# --- user programs ---------------------------------------------------------------------------------------------------

MUSL := $(if $(wildcard /usr/lib/i386-linux-musl/libc.a),$(if $(filter source zig,$(MUSL_FROM)),build/musl),build/musl)
MUSL_LIB := $(MUSL)/usr/lib/i386-linux-musl
UFLAGS := $(COMMON) -ffunction-sections -fno-asynchronous-unwind-tables -nostdinc -isystem $(MUSL)/usr/include/i386-linux-musl -Iuser/lib
ULDFLAGS := -static -no-pie -nostdlib -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro $(LINK_$(FAMILY))
ULIBS = -L$(MUSL_LIB) -Wl,--start-group -lc $(LIBGCC_$(FAMILY)) -Wl,--end-group $(MUSL_LIB)/crtn.o
USER_LIB := build/user/libtm.a
user_objects = $(patsubst %.c,build/obj/%.o,$(sort $(or $(wildcard $1/*.c),$1)))

build/musl/usr/lib/i386-linux-musl/libc.a:
	$Qtools/musl.sh build/musl $(MUSL_FROM) $(CCACHE) $(CC)

build/obj/%.o: %.c build/flags | $(MUSL_LIB)/libc.a
	@mkdir -p $(@D)
	$(call say,UCC,$<)
	$Q$(COMPILE) $(UFLAGS) -isystem "$$($(CC) -print-file-name=include)" -MMD -MP -c -o $@ $<

$(USER_LIB): $(call user_objects,user/lib) $(HELPERS_$(FAMILY)) build/user-files
	@mkdir -p $(@D) && rm -f $@
	$(call say,AR,$@)
	$Q$(call tool,ar) rcsD $@ $(filter %.o,$^)

$(HELPERS_clang): UFLAGS += -Ikernel/include

define user_program
build/user/$(basename $(notdir $1)): $(call user_objects,$1) $(USER_LIB) $(if $(filter %.c,$1),,build/user-files)
	$$(call say,ULD,$$@)
	$Q$(CC) $(ULDFLAGS) -o $$@ $(MUSL_LIB)/crt1.o $(MUSL_LIB)/crti.o $$(filter %.o %.a,$$^) $$(ULIBS)
endef
$(foreach s,$(USER_SRC),$(eval $(call user_program,$s)))

build/initramfs.cpio: $(USER_PROG) $(EXTRA) tools/mkinitramfs.py build/programs
	$(call say,CPIO,$@)
	$QSTRIP=$(call tool,strip) python3 tools/mkinitramfs.py $(if $(wildcard user/rootfs),--dir user/rootfs) --names fstools=chmod,chown,dd,df,find,ln,mkfifo,mount,mv,rmdir,stat,sync,touch,umount --names swapon=swapoff,mkswap $@ $(USER_PROG) $(EXTRA)

# --- the image for GRUB ----------------------------------------------------------------------------------------------

iso: build/tidemark.iso
build/tidemark.iso: build/tidemark.elf build/initramfs.cpio tools/mkiso.py boot/grub.cfg FORCE
	$(call say,ISO,$@)
	@python3 tools/mkiso.py $@ $(filter-out min vmin,$(POLICIES)) # those need a future, which GRUB does not load

# --- tests on the host -----------------------------------------------------------------------------------------------

HOST_TESTS := $(patsubst %.c,build/host/%,$(sort $(shell find kernel -name '*_test.c')))
HOST_GCC := $(if $(shell command -v i686-linux-gnu-gcc),i686-linux-gnu-gcc,gcc -m32)
# Ubuntu's gcc protects a student's functions by code that the grader refuses (tools/setup.sh).
HOST_CC := $(HOST_GCC) -fcf-protection=none -fno-stack-protector -fno-stack-clash-protection
HOST_O := -O1
HOST_FLAGS := -std=gnu11 -g $(HOST_O) -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra \
	$(ERRORS) $(STRICT) -DHOST_TEST -Itests/host/portable -Itests/host/include -Ikernel/include
# Debian's cross compiler has its own C library; the program must be told to use it.
HOST_LIBC := /usr/i686-linux-gnu/lib
HOST_LD_CROSS := -Wl,-dynamic-linker,$(HOST_LIBC)/ld-linux.so.2 -Wl,-rpath,$(HOST_LIBC) -Wl,--disable-new-dtags
HOST_LD := $(if $(filter i686-%,$(HOST_CC)),$(HOST_LD_CROSS))

# These two test every policy and every guard, including the templates, so all of them are linked in.
all_of = $(filter-out %_test.c %_ktest.c,$(sort $(wildcard kernel/mm/$1/*.c)))
HOST_POLICIES := $(patsubst %.c,build/host/%.o,$(call all_of,policy) kernel/lib/seq_file.c kernel/lib/rbtree.c kernel/lib/rbtree_check.c)
HOST_GUARDS := $(patsubst %.c,build/host/%.o,$(call all_of,guard) kernel/lib/seq_file.c)
define test_of_all
build/host/kernel/mm/$1/$2_test: WITH = build/host/$2.c $3
build/host/kernel/mm/$1/$2_test: build/host/$2.c $3
build/host/$2.c: tools/registry.awk FORCE
	@mkdir -p $$(@D)
	$$Q$$(call if_new,awk -v kind=$1 -f $$< $(call all_of,$1))
endef
$(eval $(call test_of_all,policy,policies,$(HOST_POLICIES)))
$(eval $(call test_of_all,guard,guards,$(HOST_GUARDS)))

# Linked with every host test. The rules of the policy and guard interfaces are the kernel's own files.
SEAM_SRC := $(patsubst %,kernel/mm/seam/%.c,rules hooks guard_hooks handover timer ghost)
HOST_OBJ := $(patsubst %.c,build/host/%.o,$(wildcard tests/host/*.c) $(SEAM_SRC) kernel/lib/mix64.c)

$(sort $(HOST_OBJ) $(HOST_POLICIES) $(HOST_GUARDS)): build/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(CCACHE) $(HOST_CC) $(HOST_FLAGS) $(VM_FILE) -MMD -MP -c -o $@ $<

# The test itself comes last: with several sources, the compiler writes only the last one's dependencies.
build/host/%_test: %_test.c $(HOST_OBJ) tests/host/sections.ld build/flags
	@mkdir -p $(@D)
	$(call say,HOST,$<)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -MF $@.d -o $@ $(WITH) $(HOST_OBJ) $< -Wl,-T,tests/host/sections.ld $(HOST_LD)

# --- the plugin, policies on the host, the labs' drivers, and what is built for several of them ----------------------------
include kernel/arch/x86/vdso/vdso.mk tools/plugin/plugin.mk tools/vmsim/vmsim.mk tools/allocsim/allocsim.mk $(wildcard tests/host/ext2/ext2.mk tests/kernel/core/core.mk) tools/page/page.mk
-include $(wildcard labs/*/lab.mk)

# The base for grading: a student's files are laid over a copy of this tree, so that nothing else is built again.
grade-base: all build/plugin/tidemark.so $(call vmsim_objects,checked) $(call vmsim_objects,fast)
test-base: grade-base build/allocsim/allocsim $(HOST_TESTS) $(EXT2_TESTS) $(SMALL_KERNEL) $(patsubst %.c,build/%.o,$(wildcard kernel/mm/*/TEMPLATE.c))
check-base: test-base
FORCE:
.PHONY: all iso grade-base test-base check-base FORCE
-include $(KERNEL_OBJ:.o=.d) $(patsubst %.c,build/obj/%.d,$(USER_FILES)) $(HOST_TESTS:=.d) $(HOST_OBJ:.o=.d) $(EXT2_OBJ:.o=.d) $(HOST_POLICIES:.o=.d) $(HOST_GUARDS:.o=.d)
