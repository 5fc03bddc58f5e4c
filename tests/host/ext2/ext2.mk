# ext2 on an image file: tests/host/ext2/main.c.
EXT2_OBJ := $(patsubst %.c,build/host/%.o,$(wildcard tests/host/ext2/*.c kernel/fs/ext2/*.c))
$(EXT2_OBJ): build/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(CCACHE) $(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/host/ext2: $(EXT2_OBJ)
	$(call say,HOST,$@)
	$Q$(HOST_CC) $(HOST_FLAGS) -o $@ $^ $(HOST_LD)

# The same for labs 10 and 12: build/labs/NAME/ext2 has the student's file, and one of the lab's own in place of the other
# lab's file. grade-base builds the rest of it, so that it is not compiled again for each submission.
LAB_EXT2_OBJ := $(patsubst %.c,build/obj/host/%.o,$(wildcard tests/host/ext2/*.c) labs/redo/confine.c \
	$(filter-out %/order.c %/redo.c,$(wildcard kernel/fs/ext2/*.c)))
grade-base: $(LAB_EXT2_OBJ)
HOST_OBJECT = $Q$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<
$(LAB_EXT2_OBJ): build/obj/host/%.o: %.c build/flags
	@mkdir -p $(@D)
	$(HOST_OBJECT)

# $(call lab_ext2,NAME,SOURCES)
define lab_ext2
build/labs/$1/%.o: %.c build/flags
	@mkdir -p $$(@D)
	$$(HOST_OBJECT)

build/labs/$1/ext2: $(LAB_EXT2_OBJ) $(patsubst %.c,build/labs/$1/%.o,$2)
	$$(call say,HOST,$$@)
	$$Q$$(HOST_CC) $$(HOST_FLAGS) -o $$@ $$^ $$(HOST_LD)

-include $(patsubst %.c,build/labs/$1/%.d,$2)
endef
-include $(LAB_EXT2_OBJ:.o=.d)

# Programs that tests run in the kernel: for ext2, for failures, and for system calls that no program of user/ makes.
TEST_PROGRAMS := ext2/rough.c ext2/gone.c ext2/raw.c ext2/direct.c fail/nth.c fail/calls hostile $(patsubst tests/kernel/%,%,$(wildcard tests/kernel/rare/*.c)) storm
$(foreach p,$(TEST_PROGRAMS),$(eval $(call user_program,tests/kernel/$p)))
EXT2_TESTS := build/host/ext2 build/user/fsops $(patsubst %,build/user/%,$(basename $(notdir $(TEST_PROGRAMS))))
-include $(patsubst %.o,%.d,$(foreach p,$(TEST_PROGRAMS),$(call user_objects,tests/kernel/$p)))

# A program with a dynamic linker and a library of their own, which a disk has in /mnt.
LINKED := build/user/linked build/user/linker build/user/linked.so
build/user/linked: LINKED_FLAGS = -fpie -pie -Wl,--dynamic-linker=/mnt/linker
build/user/linker: LINKED_FLAGS = -DLINKER -fpie -static-pie -Wl,--no-dynamic-linker
build/user/linked.so: LINKED_FLAGS = -shared -Wl,-e,first
build/user/linked build/user/linker: tests/kernel/linked/linked.c
build/user/linked.so: tests/kernel/linked/library.S
$(LINKED): build/flags
	@mkdir -p $(@D)
	$(call say,ULD,$@)
	$Q$(CC) $(STRICT) -std=gnu11 -march=i686 -O2 -Wall -Wextra -ffreestanding -fno-stack-protector -nostdlib \
		-fno-asynchronous-unwind-tables -Wl,--build-id=none $(LINK_$(FAMILY)) $(LINKED_FLAGS) -o $@ $(filter %.c %.S,$^)
EXT2_TESTS += $(LINKED)
