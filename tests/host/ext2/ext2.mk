# ext2 over an image file: tests/host/ext2/main.c.
EXT2_OBJ := $(patsubst %.c,build/host/%.o,$(wildcard tests/host/ext2/*.c kernel/fs/ext2/*.c))
$(EXT2_OBJ): build/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/host/ext2: $(EXT2_OBJ)
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $^ $(HOST_LD)

# What the tests of ext2 run in the kernel.
$(eval $(call user_program,tests/kernel/ext2/fsops.c))
$(eval $(call user_program,tests/kernel/ext2/rough.c))
$(eval $(call user_program,tests/kernel/ext2/gone.c))
$(eval $(call user_program,tests/kernel/hostile))
$(eval $(call user_program,tests/kernel/storm))

# What the tests of failures run there.
$(eval $(call user_program,tests/kernel/fail/nth.c))
$(eval $(call user_program,tests/kernel/fail/work))

EXT2_TESTS := build/host/ext2 build/user/fsops build/user/rough build/user/nth build/user/work build/user/hostile build/user/gone build/user/storm
