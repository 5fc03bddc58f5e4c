# Host tests: kernel code that is pure, in a program under the sanitizers. tests/host/main.c says how one is made.

HOST_TESTS := $(patsubst %.c,build/host/%,$(sort $(shell find kernel -name '*_test.c')))
HOST_CC := $(if $(shell command -v i686-linux-gnu-gcc),i686-linux-gnu-gcc,gcc -m32)
HOST_FLAGS := -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra \
	$(if $(WERROR),-Werror) -DHOST_TEST -Itests/host/portable -Itests/host/include -Ikernel/include
# Debian's cross compiler has its own C library, which the program must be told to use.
HOST_LIBC := /usr/i686-linux-gnu/lib
HOST_LD_CROSS := -Wl,-dynamic-linker,$(HOST_LIBC)/ld-linux.so.2 -Wl,-rpath,$(HOST_LIBC) -Wl,--disable-new-dtags
HOST_LD := $(if $(filter i686-%,$(HOST_CC)),$(HOST_LD_CROSS))

# This one tests every policy, and the template, so all of them are linked with it.
ALL_POLICIES := build/host/kernel/mm/policy/policies_test
POLICY_SRC := $(filter-out %_test.c %_ktest.c,$(sort $(wildcard kernel/mm/policy/*.c)))
HOST_POLICIES := $(patsubst %.c,build/host/%.o,$(POLICY_SRC) kernel/lib/seq_file.c)
$(ALL_POLICIES): WITH = build/host/registry.c $(HOST_POLICIES)
$(ALL_POLICIES): build/host/registry.c $(HOST_POLICIES)

build/host/registry.c: tools/registry.awk FORCE
	@mkdir -p $(@D)
	$Qawk -v kind=policy -f $< $(POLICY_SRC) >$@.new && { cmp -s $@.new $@ || cp $@.new $@; }

# What all of them are linked with; the rules of the seams are the kernel's own.
SEAM_SRC := $(patsubst %,kernel/mm/seam/%.c,rules hooks handover timer)
HOST_OBJ := $(patsubst %.c,build/host/%.o,$(wildcard tests/host/*.c) $(SEAM_SRC))

$(HOST_OBJ) $(HOST_POLICIES): build/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) $(VM_FILE) -MMD -MP -c -o $@ $<

# The test itself comes last: of several sources, only the last one's dependencies are written.
build/host/%_test: %_test.c $(HOST_OBJ) tests/host/sections.ld build/flags
	@mkdir -p $(@D)
	$(call say,HOST,$<)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -MF $@.d -o $@ $(WITH) $(HOST_OBJ) $< -Wl,-T,tests/host/sections.ld $(HOST_LD)

-include $(HOST_TESTS:=.d) $(HOST_OBJ:.o=.d) $(HOST_POLICIES:.o=.d)
