# The small kernel, build/core/tidemark.elf: the files of docs/guide/core.txt and of small.txt beside this, and nothing else.
# No file is compiled differently: what is left out is absent, and stubs.c answers for it. It has no table of symbols.
SMALL_KERNEL := build/core/tidemark.elf
SMALL := tests/kernel/core
SMALL_SRC := $(shell sed -n '/^\(boot\|kernel\)\/.*\.[cS]$$/p' docs/guide/core.txt $(SMALL)/small.txt) $(SMALL)/stubs.c
SMALL_OBJ := $(patsubst %,build/%.o,$(basename $(SMALL_SRC)))
SMALL_TABLES := build/core/policy build/core/guard

$(SMALL_TABLES:=.c): build/core/%.c: tools/registry.awk docs/guide/core.txt $(SMALL)/small.txt
	@mkdir -p $(@D)
	$Qawk -v kind=$* -f $< $(filter kernel/mm/$*/%,$(SMALL_SRC)) </dev/null >$@

$(SMALL_TABLES:=.o): build/%.o: build/%.c build/flags
	$Q$(COMPILE) $(KFLAGS) -MMD -MP -c -o $@ $<

$(SMALL_KERNEL): $(SMALL_OBJ) $(SMALL_TABLES:=.o) linker.ld
	$(call say,LD,$@)
	$Q$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^)

-include build/$(SMALL)/stubs.d $(SMALL_TABLES:=.d)
