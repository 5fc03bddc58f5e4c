# Builds the grader's host test: the driver, and the student's allocator, as 32-bit programs with the sanitizers.

BUDDY := build/labs/buddy
BUDDY_BOTH := $(BUDDY)/labs/buddy/shared.o $(BUDDY)/tests/host/driven/driven.o $(BUDDY)/tests/host/fakes.o
BUDDY_OBJ := $(BUDDY_BOTH) $(patsubst %,$(BUDDY)/%.o,labs/buddy/driver labs/buddy/allocator kernel/mm/frame/buddy)

$(BUDDY)/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

$(BUDDY)/driver: $(BUDDY)/labs/buddy/driver.o $(BUDDY)/allocator
$(BUDDY)/allocator: $(BUDDY)/labs/buddy/allocator.o $(BUDDY)/kernel/mm/frame/buddy.o
$(BUDDY)/driver $(BUDDY)/allocator: $(BUDDY_BOTH) tests/host/sections.ld
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $(filter %.o,$^) -Wl,-T,tests/host/sections.ld $(HOST_LD)

-include $(BUDDY_OBJ:.o=.d)
