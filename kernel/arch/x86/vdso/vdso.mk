# The vDSO, a shared library that kernel/fs/vdso_image.S contains. tools/build.mk includes this.
VDSO_SRC := kernel/arch/x86/vdso/clock.c kernel/arch/x86/vdso/vsyscall.S
VDSO_FLAGS := $(COMMON) -fPIC -ffreestanding -fno-stack-protector -fvisibility=hidden -mno-sse -mno-80387 -fomit-frame-pointer \
	-fno-asynchronous-unwind-tables -nostdlib -shared -Wl,--hash-style=both -Wl,--build-id=none -Wl,-soname=linux-gate.so.1 \
	-Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,-s $(LINK_$(FAMILY)) -Ikernel/include

build/kernel/arch/x86/vdso/vdso.so: $(VDSO_SRC) kernel/arch/x86/vdso/vdso.lds kernel/include/arch/vdso.h kernel/include/types.h build/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$Q$(COMPILE) $(VDSO_FLAGS) -Wl,-T,kernel/arch/x86/vdso/vdso.lds -o $@ $(VDSO_SRC)

build/kernel/fs/vdso_image.o: build/kernel/arch/x86/vdso/vdso.so
