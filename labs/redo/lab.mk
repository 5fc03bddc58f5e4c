# Builds the grader's program that mounts an image on the host: tests/host/ext2 with the student's file.
$(eval $(call lab_ext2,redo,kernel/fs/ext2/redo.c labs/redo/order.c))
