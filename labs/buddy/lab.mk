# The driver of the grader's host tests: the student's allocator in a 32-bit program, under the sanitizers.

BUDDY_OBJ := $(patsubst %.c,build/labs/buddy/%.o,labs/buddy/driver.c tests/host/fakes.c kernel/mm/frame/buddy.c)

build/labs/buddy/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/labs/buddy/driver: $(BUDDY_OBJ) tests/host/sections.ld
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $(BUDDY_OBJ) -Wl,-T,tests/host/sections.ld $(HOST_LD)

-include $(BUDDY_OBJ:.o=.d)
