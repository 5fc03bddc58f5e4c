# ext2 on an image file: tests/host/ext2/main.c.
EXT2_OBJ := $(patsubst %.c,build/host/%.o,$(wildcard tests/host/ext2/*.c kernel/fs/ext2/*.c))
$(EXT2_OBJ): build/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(CCACHE) $(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/host/ext2: $(EXT2_OBJ)
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $^ $(HOST_LD)

# Programs that tests run in the kernel: for ext2, for failures, and for system calls that no program of user/ makes.
TEST_PROGRAMS := ext2/fsops.c ext2/rough.c ext2/gone.c ext2/raw.c ext2/direct.c fail/nth.c fail/calls hostile rare/altstack.c rare/corners.c rare/far.c rare/library.c rare/moved.c rare/origin.c rare/rare.c rare/straddle.c rare/swapped.c rare/vm86.c rare/waiting.c storm
$(foreach p,$(TEST_PROGRAMS),$(eval $(call user_program,tests/kernel/$p)))
EXT2_TESTS := build/host/ext2 $(patsubst %,build/user/%,$(basename $(notdir $(TEST_PROGRAMS))))
-include $(patsubst %.o,%.d,$(foreach p,$(TEST_PROGRAMS),$(call user_objects,tests/kernel/$p)))
