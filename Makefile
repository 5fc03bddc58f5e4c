# Tidemark's build. `make help` lists the targets and variables, `make doctor` says what the machine lacks.
# Everything that is built lies under build/; nothing outside the project is touched but packages, and those on request.

VM = 2q
MEM = 64M
SWAP = sim:hdd
EXACT = 1
TIMEOUT = 600
GDBPORT = 1234
PROG = init
FRAMES =
RUN =
SEED =
TELEMETRY =
CMDLINE =
QEMUFLAGS =
EXTRA =
# From the environment too, so that what `make check` starts builds the same way.
WERROR ?=
MUSL_FROM = package
export VM MEM SWAP EXACT TIMEOUT GDBPORT FRAMES RUN SEED TELEMETRY CMDLINE PROG QEMUFLAGS

KNOWN := VM MEM SWAP EXACT TIMEOUT GDBPORT PROG FRAMES RUN SEED TELEMETRY CMDLINE QEMUFLAGS EXTRA WERROR MUSL_FROM CC V TESTS NAME TRACE EXPLAIN FAST LAB SECRET
UNKNOWN := $(filter-out $(KNOWN),$(foreach v,$(.VARIABLES),$(if $(findstring command,$(origin $v)),$v)))
ifneq ($(UNKNOWN),)
$(error unknown variable $(UNKNOWN); there are: $(KNOWN))
endif

GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out help clean doctor,$(GOALS)),)
TOOLCHAIN := $(shell tools/setup.sh $(GOALS))
ifneq ($(.SHELLSTATUS),0)
$(error the set-up is not complete, see above)
endif
ifeq ($(origin CC),default)
CC := $(TOOLCHAIN)
endif
endif
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

Q = $(if $(V),,@)
say = @printf '  %-5s %s\n' $1 '$2'

# --- the kernel ------------------------------------------------------------------------------------------------------

KERNEL_SRC := $(sort $(shell find boot kernel -name '*.[cS]' ! -name '*_test.c' ! -name TEMPLATE.c))
REGISTRY := $(patsubst %,build/registry/%.c,policy guard)
KERNEL_OBJ := $(patsubst %,build/%.o,$(basename $(KERNEL_SRC))) $(REGISTRY:.c=.o)
USER_SRC := $(wildcard user/*.c user/workloads/*.c)
USER_PROG := $(patsubst %.c,build/user/%,$(notdir $(USER_SRC)))
POLICIES := $(filter-out TEMPLATE %_test %_ktest,$(basename $(notdir $(wildcard kernel/mm/policy/*.c))))

COMMON := -std=gnu11 -march=i686 -O2 -g -fno-pie -Wall -Wextra -Werror=implicit-function-declaration \
	$(if $(WERROR),-Werror) '-ffile-prefix-map=$(CURDIR)=.'
KFLAGS := $(COMMON) -mregparm=3 -ffreestanding -fno-stack-protector -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -mno-mmx -mno-sse -mno-80387 -Ikernel/include
LDFLAGS := -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,--build-id=none -Wl,-z,noexecstack

all: build/tidemark.elf build/initramfs.cpio

# Files that change only when what they hold does: the compiler with its flags, the programs, the kernel's sources.
build/flags build/programs build/sources: FORCE
	@mkdir -p build && printf '%s\n' "$($(@F))" | cmp -s - $@ || printf '%s\n' "$($(@F))" >$@
build/flags: flags = $(CC) $(shell $(CC) -dumpfullversion) $(filter-out -Werror -ffile-prefix-map=%,$(subst ',,$(KFLAGS))) $(LDFLAGS)
build/programs: programs = $(USER_PROG) $(EXTRA)
build/sources: sources = $(KERNEL_SRC)

# What a policy or a guard is registered under (tools/registry.awk) begins with the name of its file.
VM_FILE = $(if $(filter kernel/mm/policy/% kernel/mm/guard/%,$<),-DVM_FILE=$(subst .,_,$(subst -,_,$(basename $(notdir $<)))))

build/%.o: %.c build/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$Q$(CC) $(KFLAGS) $(VM_FILE) -MMD -MP -c -o $@ $<

build/%.o: %.S build/flags
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$Q$(CC) $(KFLAGS) -MMD -MP -c -o $@ $<

# The tables of policies and guards, made of what the files in their folders register.
$(REGISTRY): build/registry/%.c: tools/registry.awk FORCE
	@mkdir -p $(@D)
	$Qawk -v kind=$* -f $< $(filter kernel/mm/$*/%,$(KERNEL_SRC)) >$@.new && { cmp -s $@.new $@ || cp $@.new $@; }

$(REGISTRY:.c=.o): build/%.o: build/%.c build/flags
	$Q$(CC) $(KFLAGS) -MMD -MP -c -o $@ $<

build/ksyms.o build/ksyms0.o: build/%.o: build/%.S
	$Q$(CC) $(KFLAGS) -c -o $@ $<

NM = "$$($(CC) -print-prog-name=nm)" -n

build/ksyms0.S: tools/ksyms.awk build/flags
	$Qawk -f tools/ksyms.awk </dev/null >$@

build/ksyms.S: build/pass1.elf tools/ksyms.awk
	$Q$(NM) $< >$@.nm && awk -f tools/ksyms.awk $@.nm >$@

build/pass1.elf: $(KERNEL_OBJ) build/ksyms0.o linker.ld build/sources
	$Q$(CC) $(LDFLAGS) -o $@ $(KERNEL_OBJ) build/ksyms0.o

# The second link may move nothing that the table of names describes.
build/tidemark.elf: build/ksyms.o build/pass1.elf
	$(call say,LD,$@)
	$Q$(CC) $(LDFLAGS) -o $@ $(KERNEL_OBJ) build/ksyms.o
	$Q$(NM) $@ >$@.nm && awk -f tools/ksyms.awk $@.nm | cmp -s - build/ksyms.S || \
		{ echo "$@: functions moved when their names were added" >&2; rm -f $@; exit 1; }

# --- user programs ---------------------------------------------------------------------------------------------------

MUSL := $(if $(wildcard /usr/lib/i386-linux-musl/libc.a),$(if $(filter source,$(MUSL_FROM)),build/musl),build/musl)
MUSL_LIB := $(MUSL)/usr/lib/i386-linux-musl
UFLAGS := $(COMMON) -nostdinc -isystem $(MUSL)/usr/include/i386-linux-musl -Iuser
ULIBS = -L$(MUSL_LIB) -Wl,--start-group -lc -lgcc -Wl,--end-group $(MUSL_LIB)/crtn.o

build/musl/usr/lib/i386-linux-musl/libc.a:
	$Qtools/musl.sh build/musl $(MUSL_FROM) $(CC)

define user_program
build/user/$(basename $(notdir $1)): $1 build/flags | $(MUSL_LIB)/libc.a
	@mkdir -p build/user
	$$(call say,UCC,$1)
	$Q$(CC) $(UFLAGS) -isystem "$$$$($(CC) -print-file-name=include)" -static -no-pie -nostdlib -MMD -MP -MF $$@.d \
		-o $$@ $(MUSL_LIB)/crt1.o $(MUSL_LIB)/crti.o $1 $$(ULIBS)
endef
$(foreach s,$(USER_SRC),$(eval $(call user_program,$s)))

build/initramfs.cpio: $(USER_PROG) $(EXTRA) tools/mkinitramfs.py build/programs
	$(call say,CPIO,$@)
	$QSTRIP="$$($(CC) -print-prog-name=strip)" python3 tools/mkinitramfs.py $(if $(wildcard user/rootfs),--dir user/rootfs) $@ $(USER_PROG) $(EXTRA)

# --- running it ------------------------------------------------------------------------------------------------------

qemu: all
	@PYTHONPATH=tools python3 -m tidemark.qemu
qemu-gdb: all
	@PYTHONPATH=tools python3 -m tidemark.qemu --gdb
gdb: all
	@tools/gdb/start.sh
iso: build/tidemark.iso
build/tidemark.iso: build/tidemark.elf build/initramfs.cpio tools/mkiso.py boot/grub.cfg FORCE
	$(call say,ISO,$@)
	@python3 tools/mkiso.py $@ $(POLICIES)
qemu-iso: iso
	@PYTHONPATH=tools python3 -m tidemark.qemu --iso

# --- the plugin with which QEMU records references, for the package in tools/tidemark --------------------------------

build/plugin/tidemark.so: $(wildcard tools/plugin/*.[ch])
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$Qcc -std=gnu11 -O2 -shared -fPIC -Wall -Wextra $(if $(WERROR),-Werror) -o $@ $(filter %.c,$^) -ldl

# --- tests -----------------------------------------------------------------------------------------------------------

# Programs that run kernel code on the host; where the folder is left out, so are they.
-include tests/host/host.mk
# Policies on the host: targets sim and new-policy. The lab and its assignments: lab, grade, release.
include tools/vmsim/vmsim.mk labs/labs.mk

check: grade-base $(HOST_TESTS) $(patsubst %.c,build/%.o,$(wildcard kernel/mm/*/TEMPLATE.c))
	@tools/check.sh $(HOST_TESTS)

# --- the rest --------------------------------------------------------------------------------------------------------

doctor:
	@tools/setup.sh --doctor
clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name musl ! -name venv -exec rm -rf {} +
help:
	@cat tools/help.txt

FORCE:
.PHONY: all qemu qemu-gdb gdb iso qemu-iso check doctor clean help FORCE
-include $(KERNEL_OBJ:.o=.d) $(USER_PROG:=.d)
