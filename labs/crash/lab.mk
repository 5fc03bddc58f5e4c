# The program that does a test's steps in the kernel.
grade-base: build/user/fsops
$(eval $(call user_program,labs/crash/fsops.c))
-include $(patsubst %.o,%.d,$(call user_objects,labs/crash/fsops.c))
