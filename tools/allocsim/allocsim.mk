# build/allocsim/allocsim: allocators of this folder beside the kernel's own buddy and slab, which are linked unchanged. A 32-bit
# program under the sanitizers, as the host tests are, so that struct page has the kernel's layout. A new allocator is one more
# file here. tools/build.mk includes this.

ALLOCSIM_SRC := $(wildcard tools/allocsim/*.c) tests/host/fakes.c $(patsubst %,kernel/mm/frame/%.c,buddy slab kmalloc slabinfo) \
	kernel/lib/seq_file.c
ALLOCSIM_OBJ := $(ALLOCSIM_SRC:%.c=build/allocsim/%.o)
ALLOCSIM_FLAGS = $(VMSIM_FLAGS) -O2 -fsanitize=undefined -fno-sanitize-recover=all

build/allocsim/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(CCACHE) $(HOST_CC) $(ALLOCSIM_FLAGS) -MMD -MP -c -o $@ $<

build/allocsim/allocsim: $(ALLOCSIM_OBJ) tests/host/sections.ld
	$(call say,SIM,$@)
	$Q$(HOST_CC) $(ALLOCSIM_FLAGS) -o $@ $(ALLOCSIM_OBJ) -Wl,-T,tests/host/sections.ld $(HOST_LD)

-include $(ALLOCSIM_OBJ:.o=.d)
