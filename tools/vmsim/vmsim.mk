# Policies on the host. build/vmsim/NAME is kernel/mm/policy/NAME.c itself, linked with code that stands in for the kernel, and
# run under the sanitizers. build/vmsim/NAME.fast is optimized for speed: it checks the counts of the policy's pages only now and
# then, and at the end. Both are 32-bit programs like the host tests, so that struct page has the kernel's layout.

VMSIM_SRC := $(wildcard tools/vmsim/*.c) $(SEAM_SRC) kernel/lib/seq_file.c kernel/lib/rbtree.c kernel/lib/rbtree_check.c kernel/lib/mix64.c kernel/lib/parse.c
VMSIM_FLAGS = -std=gnu11 -g -Wall -Wextra $(ERRORS) $(STRICT) -fno-pie -no-pie -Itests/host/portable \
	-Itests/host/include -Ikernel/include
VMSIM_fast = -O2 -DCHECK_EVERY=65536
VMSIM_checked = -O1 -DCHECK_EVERY=1 -fsanitize=address$(comma)undefined -fno-sanitize-recover=all
vmsim_objects = $(VMSIM_SRC:%.c=build/vmsim/$1/%.o)

define vmsim_kind
build/vmsim/$1/%.o: %.c build/flags
	@mkdir -p $$(@D)
	$Q$(CCACHE) $(HOST_CC) $(VMSIM_FLAGS) $(VMSIM_$1) $$(VM_FILE) $(SAVED) -MMD -MP -c -o $$@ $$<

build/vmsim/$1/registry/%.c: kernel/mm/policy/%.c tools/registry.awk
	@mkdir -p $$(@D)
	$Qawk -v kind=policy -f tools/registry.awk $$< >$$@

build/vmsim/$1/registry/%.o: build/vmsim/$1/registry/%.c build/flags
	$Q$(CCACHE) $(HOST_CC) $(VMSIM_FLAGS) $(VMSIM_$1) -MMD -MP -c -o $$@ $$<

build/vmsim/%$2: build/vmsim/$1/kernel/mm/policy/%.o build/vmsim/$1/registry/%.o $(call vmsim_objects,$1)
	$$(call say,SIM,$$@)
	$Q$(HOST_CC) $(VMSIM_FLAGS) $(VMSIM_$1) -o $$@ $$(filter %.o,$$^) $(HOST_LD)
endef
$(eval $(call vmsim_kind,fast,.fast))
$(eval $(call vmsim_kind,checked,))
.PRECIOUS: build/vmsim/fast/%.o build/vmsim/checked/%.o build/vmsim/fast/registry/%.c build/vmsim/checked/registry/%.c
-include $(foreach p,$(VMSIM_SRC) $(POLICIES:%=kernel/mm/policy/%.c),$(foreach k,fast checked,$(p:%.c=build/vmsim/$k/%.d)))

new-policy:
	@tools/vmsim/new-policy.sh "$$NAME" $(CC) $(STRICT) $(KFLAGS)

.PHONY: new-policy

# Programs that the tests run in the kernel to replay the same string there.
$(foreach s,$(wildcard tests/kernel/vmsim/*.c),$(eval $(call user_program,$s)))
