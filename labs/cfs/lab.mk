# Builds the grader's host test: the driver, and the student's run queue, as 32-bit programs with the sanitizers.

CFS := build/labs/cfs
CFS_BOTH := $(patsubst %,$(CFS)/%.o,tests/host/driven/driven tests/host/fakes kernel/lib/rbtree kernel/lib/rbtree_check)
CFS_OBJ := $(CFS_BOTH) $(patsubst %,$(CFS)/%.o,labs/cfs/driver labs/cfs/queue kernel/sched/fair)

$(CFS)/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

$(CFS)/driver: $(CFS)/labs/cfs/driver.o $(CFS)/queue
$(CFS)/queue: $(CFS)/labs/cfs/queue.o $(CFS)/kernel/sched/fair.o
$(CFS)/driver $(CFS)/queue: $(CFS_BOTH) tests/host/sections.ld
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $(filter %.o,$^) -Wl,-T,tests/host/sections.ld $(HOST_LD)

-include $(CFS_OBJ:.o=.d)
