# Builds the grader's program that mounts an image on the host: tests/host/ext2 with the student's file.
REDO := build/labs/redo
REDO_OBJ := $(patsubst %.c,$(REDO)/%.o,$(wildcard tests/host/ext2/*.c) labs/redo/order.c labs/redo/confine.c \
	$(filter-out kernel/fs/ext2/order.c,$(wildcard kernel/fs/ext2/*.c)))

$(REDO)/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

$(REDO)/ext2: $(REDO_OBJ)
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $^ $(HOST_LD)

-include $(REDO_OBJ:.o=.d)
