# The program that does a test's steps in the kernel.
grade-base: build/user/fsops
$(eval $(call user_program,labs/crash/fsops.c))
-include $(patsubst %.o,%.d,$(call user_objects,labs/crash/fsops.c))
# And that which does them on the host, with the student's file.
$(eval $(call lab_ext2,crash,kernel/fs/ext2/order.c labs/crash/redo.c))
