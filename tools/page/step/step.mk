# build/step/step.wasm: the simulator with every policy of kernel/mm/policy, for the page's stepper (tools/page/step).
# build/step/step.map has the linker's addresses of their variables, from which lists get their names.

STEP := tools/page/step/core
STEP_CC := clang --target=wasm32
STEP_SRC := $(wildcard $(STEP)/*.c) $(filter-out %/main.c %/host.c %/script.c %/crowd.c %/many.c,$(VMSIM_SRC)) kernel/lib/printf.c
STEP_POLICY_SRC := $(POLICIES:%=kernel/mm/policy/%.c)
STEP_FLAGS := -std=gnu11 -O2 -ffreestanding -fdata-sections -Wall -Wextra $(STRICT) -DCHECK_EVERY=1 \
	-I$(STEP) -I$(STEP)/include -Itools/vmsim -Itests/host/portable
# The range in which report.c searches for the heads of lists: the module's variables.
STEP_FLAGS += -D__data_start=__global_base -D_end=__data_end
STEP_HEADERS = $(if $(filter kernel/lib/printf.c,$<),,-Itests/host/include) -Ikernel/include
STEP_OBJ := $(patsubst %.c,build/step/%.o,$(STEP_SRC) $(STEP_POLICY_SRC)) build/step/registry.o

build/step/%.o: %.c build/flags
	@mkdir -p $(@D)
	$Q$(STEP_CC) $(STEP_FLAGS) $(STEP_HEADERS) $(STEP_KIND) -MMD -MP -c -o $@ $<

# A policy reports the line that it calls from, stops if it runs for ever, and traps on a NULL pointer. The core reports
# when a page is chosen.
STEP_GUARD := -fsanitize-coverage=trace-pc -fsanitize=null,bounds -fsanitize-trap=null,bounds
$(STEP_POLICY_SRC:%.c=build/step/%.o): STEP_KIND = $(VM_FILE) -include $(STEP)/lines.h $(STEP_GUARD)
$(STEP_POLICY_SRC:%.c=build/step/%.o): $(STEP)/lines.h
build/step/tools/vmsim/seam.o: STEP_KIND = -Dreport_gave=step_gave

build/step/registry.c: tools/registry.awk $(STEP_POLICY_SRC) build/sources
	@mkdir -p $(@D)
	$Qawk -v kind=policy -f $< $(STEP_POLICY_SRC) >$@

build/step/registry.o: build/step/registry.c
	$Q$(STEP_CC) $(STEP_FLAGS) $(STEP_HEADERS) -Dpolicy_table=step_policies -c -o $@ $<

build/step/step.wasm: $(STEP_OBJ)
	$(call say,WASM,$@)
	$Qwasm-ld --no-entry --gc-sections --strip-all -Map=build/step/step.map -o $@ $^

-include $(STEP_OBJ:.o=.d)

build/step/step.json: build/step/step.wasm tools/page/step/tables.js $(STEP_POLICY_SRC)
	$Qnode tools/page/step/tables.js $@ build/step/step.map $(STEP_POLICY_SRC)

PAGE_DATA += step.wasm=build/step/step.wasm step.json=build/step/step.json
