# Tidemark's build. `make help` lists the targets and variables, `make doctor` says what the machine lacks.
# Everything that is built lies under build/. Nothing outside the project is changed except packages, and the caches of
# pip, npm and ccache.
#
# This file has what users call: the variables, the set-up, and the targets that run something. tools/build.mk says how
# the files in build/ are made. That part takes a lock: of two makes in one tree, the second waits until the first has
# built. What runs afterwards (QEMU, gdb, a shell, tests) does not hold the lock.

# --- variables -------------------------------------------------------------------------------------------------------

ifneq ($(filter 3.% 4.0 4.0.% 4.1 4.1.%,$(MAKE_VERSION)),)
$(error This is GNU make $(MAKE_VERSION), and Tidemark needs 4.2 or later; on macOS: brew install make, then gmake instead of make)
endif

define NEWLINE


endef
HASH := \#
typed = $(findstring command,$(origin $1))

# A variable's name is the first word of its line.
LINES := $(subst $(NEWLINE),$(NEWLINE)@,$(NEWLINE)$(file <tools/tidemark/machine/variables.txt))
KNOWN := $(filter-out $(HASH),$(patsubst @%,%,$(filter @%,$(LINES))))
UNKNOWN := $(filter-out $(KNOWN),$(foreach v,$(.VARIABLES),$(if $(call typed,$v),$v)))
ifneq ($(UNKNOWN),)
$(error unknown variable $(UNKNOWN); there are: $(KNOWN))
endif

# Typed values are taken literally. make itself would expand each $ in them, here, in the make it starts, and from 4.4 on for
# every $(shell): so nothing above this line uses that.
$(foreach v,$(KNOWN),$(if $(call typed,$v),$(eval override $v := $$(value $v))))

DEFAULTS := $(shell awk -F ' *[|] *' '!/^\#/ && NF { print $$1 "=" $$2 }' tools/tidemark/machine/variables.txt)
$(foreach d,$(DEFAULTS),$(eval $(if $(filter INSTALL=% WERROR=%,$d),$(subst =,?=,$d),$d)))
MAKEOVERRIDES =
export $(filter-out CC,$(KNOWN))

# What the tools here start asks the set-up for the compiler, too, and so does a make that they start.
export TIDEMARK_CC := $(if $(filter override command,$(origin CC)),$(CC),$(TIDEMARK_CC))

GOALS := $(or $(MAKECMDGOALS),all)

# These variables become parts of command lines.
UNSAFE := ' " ` $$ \ ; & | < > ( ) * ? [ $(HASH)
TEXTS := CC EXTRA MUSL_FROM
$(foreach v,$(TEXTS),$(if $(findstring $(NEWLINE),$($v)),$(error $v may not contain the end of a line)))
$(foreach v,$(TEXTS),$(foreach c,$(UNSAFE),$(if $(findstring $c,$($v)),$(error $v=$($v): it may not contain $c))))

$(foreach f,$(EXTRA),$(if $(wildcard $f),,$(error EXTRA=$(EXTRA): there is no file $f; a name may not hold blanks)))

# The release's image is not built, so no compiler is needed.
ifneq ($(IMAGE),built)
ifneq ($(IMAGE),reference)
$(error IMAGE=$(IMAGE): it is built or reference)
endif
$(if $(filter-out qemu qemu-gdb gdb lab,$(GOALS)),$(error IMAGE=reference is for qemu, qemu-gdb, gdb and lab))
endif

# --- the set-up ------------------------------------------------------------------------------------------------------

quoted = '$(subst ','\'',$1)'
ifneq ($(filter-out help clean doctor,$(GOALS)),)
TOOLCHAIN := $(shell INSTALL=$(call quoted,$(INSTALL)) DISK=$(call quoted,$(DISK)) IMAGE=$(IMAGE) ZIG=$(call quoted,$(ZIG)) MUSL_FROM=$(MUSL_FROM) TIDEMARK_CC=$(call quoted,$(TIDEMARK_CC)) tools/setup.sh $(foreach g,$(GOALS),$(call quoted,$g)))
ifneq ($(.SHELLSTATUS),0)
$(error the set-up is not complete, see above)
endif
override CC := $(TOOLCHAIN)
# Reuses what ccache has compiled before, in any tree, if ccache is installed and may write to its folder.
CCACHE := $(if $(findstring zig,$(CC)),,$(shell d=$$(ccache -k cache_dir 2>/dev/null) && mkdir -p "$$d/tmp" 2>/dev/null && [ -w "$$d/tmp" ] && echo ccache))
endif

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
endif
# The targets here run one after another; tools/build.mk runs many in parallel.
.NOTPARALLEL:

BUILD = +@tools/locked.sh $(MAKE) --no-print-directory -f tools/build.mk CC='$(CC)' CCACHE=$(CCACHE)
PYTHON = PYTHONPATH=tools $(or $(wildcard build/venv/bin/python),python3)

# --- building --------------------------------------------------------------------------------------------------------

all iso page book grade-base new-policy test-base check-base:
	$(BUILD) $@

FILES := $(filter build/%,$(GOALS))
ifneq ($(FILES),)
$(FILES): files ; @:
files:
	$(BUILD) $(FILES)
endif

# --- running ---------------------------------------------------------------------------------------------------------

ifeq ($(IMAGE),built)
qemu qemu-gdb gdb: all
endif
qemu:
	@$(PYTHON) -m tidemark.machine.qemu
qemu-gdb:
	@$(PYTHON) -m tidemark.machine.qemu --gdb
gdb:
	@tools/gdb/start.sh
qemu-iso: iso
	@$(PYTHON) -m tidemark.machine.qemu --iso

image: all
	@$(PYTHON) -m debian image
image-list:
	@$(PYTHON) -m debian list

sim:
	@$(PYTHON) -m tidemark.cli sim --vm "$$VM" $(if $(FRAMES),--frames "$$FRAMES") $(if $(EXPLAIN),--explain) \
		$(if $(FAST),--fast) -- "$$TRACE"

ifeq ($(LAB),)
lab:
	$(if $(filter built,$(IMAGE)),$(BUILD) all build/plugin/tidemark.so)
	@echo 'tidemark --help lists the commands; exit leaves this shell.'
	@PATH="$$PWD/build/venv/bin:$$PATH" "$${SHELL:-sh}"
else
lab:
	@$(PYTHON) -m tidemark.cli lab "$$LAB"
endif
grade: grade-base
	@$(PYTHON) -m tidemark.cli grade $(if $(SECRET),--secret "$$SECRET") $(if $(TEST),--test "$$TEST") -- "$$LAB"
hand-in:
	@$(PYTHON) -m tidemark.cli hand-in "$$LAB"
quiz:
	@$(PYTHON) -m tidemark.cli quiz take $(if $(ANSWERS),--answers "$$ANSWERS") -- "$$LAB"
release:
	@$(PYTHON) -m tidemark.cli release --check
	$(BUILD) grade-base
	@$(PYTHON) -m tidemark.cli release

# The first command installs the C library.
reference:
	$(BUILD) build/user/libtm.a
	@$(PYTHON) tools/mkreference.py $(if $(RENEW),--renew) -- $(CC)

wheel:
	$(BUILD) page
	@$(PYTHON) tools/mkwheel.py

check soak:
	+@tools/check.sh $@ $(MAKE) --no-print-directory -f tools/build.mk CC='$(CC)' CCACHE=$(CCACHE)
qemus: check-base
	@tools/qemus.sh
	@TESTS=tests/kernel/test_qemus.py tools/check.sh soak
hosts:
	@tools/hosts/hosts.sh
figures:
	@[ -d tools/figures ] || { echo 'make figures: a release for students has no tools/figures'; exit 1; }
	$(BUILD) all grade-base build/plugin/tidemark.so build/allocsim/allocsim
	@set -f; $(PYTHON) -m figures $(if $(FRESH),--fresh) -- $$FIGURES
coverage: check-base
	@printf '%s\n' "$$TESTS" | xargs env $(PYTHON) -m cover

# --- the rest --------------------------------------------------------------------------------------------------------

doctor:
	@tools/setup.sh --doctor
clean:
	@[ ! -d build ] || tools/locked.sh find build -mindepth 1 -maxdepth 1 \
		! -name 'musl*' ! -name venv ! -name npm ! -name debian ! -name .lock -exec rm -rf {} +
help:
	@cat tools/help.txt && awk -f tools/tidemark/machine/variables.awk tools/tidemark/machine/variables.txt
.DEFAULT:
	$(error there is no target $@; `make help` lists them)

.DEFAULT_GOAL := all
.PHONY: all iso page book grade-base new-policy test-base check-base files qemu qemu-gdb gdb qemu-iso image image-list sim lab grade hand-in quiz release reference wheel check
.PHONY: soak qemus hosts figures coverage doctor clean help
.SUFFIXES:
