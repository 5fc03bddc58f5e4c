# build/plugin/tidemark.so, with which QEMU watches a guest from outside. tools/build.mk includes this.

PLUGIN_OBJ := $(patsubst %.c,build/obj/%.o,$(wildcard tools/plugin/*.c tools/plugin/*/*.c))

build/obj/tools/plugin/%.o: tools/plugin/%.c
	@mkdir -p $(@D)
	$Q$(CCACHE) cc -std=gnu11 -O2 -fPIC -Wall -Wextra $(STRICT) -Itools/plugin -MMD -MP -c -o $@ $<

build/plugin/tidemark.so: $(PLUGIN_OBJ)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$Qcc -shared -o $@ $^ -ldl

-include $(PLUGIN_OBJ:.o=.d)
