# The page: build/page/, static files in which the kernel boots in a browser (docs/reference/page.md).
# tools/build.mk includes this. A part of the page may have rules of its own in tools/page/PART/PART.mk.

PAGE := build/page
NPM := build/npm/node_modules
PAGE_SRC := $(wildcard tools/page/*.* tools/page/*/*.*)

# The page's data: each file becomes the script data/NAME.js, which the page loads when it needs it.
PAGE_DATA := kernel=build/page-tidemark.elf initramfs=build/initramfs.cpio wasm=$(NPM)/v86/build/v86.wasm

-include $(wildcard tools/page/*/*.mk tools/page/*/*/*.mk)

page: $(PAGE)/index.html

# npm checks what it fetches against the lock file. The page is deleted first, because it was made with other packages.
$(NPM)/.package-lock.json: tools/page/package.json tools/page/package-lock.json
	$(call say,NPM,build/npm)
	$Qrm -f $(PAGE)/index.html
	$Qnode -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' || \
		{ echo "Here is node $$(node --version), and the page takes 18 or later: https://nodejs.org/" >&2; exit 1; }
	$Qmkdir -p build/npm && cp tools/page/package.json tools/page/package-lock.json tools/page/.npmrc build/npm
	$Qcd build/npm && npm ci --ignore-scripts --fetch-retries=1 --no-fund --no-audit --loglevel=error >&2
	$Qtouch $@

# Debug information is three quarters of the file and is never loaded.
build/page-tidemark.elf: build/tidemark.elf
	$Q$(call tool,strip) --strip-debug -o $@ $<

# VM is one of the two policies that a first visit sees; min and vmin need a future, which the page does not have. URL is
# the address that the page will have: the cards of the gallery's pages need it (tools/page/gallery).
build/page-policies: FORCE
	@{ $(call if_new,printf '%s\n' '$(VM) $(POLICIES)' "$$URL"); }

$(PAGE)/index.html: build/page-policies $(NPM)/.package-lock.json $(PAGE_SRC) $(wildcard docs/figures/gallery/*.svg) $(foreach d,$(PAGE_DATA),$(lastword $(subst =, ,$d)))
	$(call say,PAGE,$(PAGE))
	$QPAGE_POLICIES='$(filter-out min vmin,$(POLICIES))' node tools/page/build.mjs $(PAGE) $(NPM) $(PAGE_DATA)

# npm installs it together with the other packages.
$(NPM)/v86/build/v86.wasm: $(NPM)/.package-lock.json ;

# For the tests: the page, if npm can fetch its packages. Built last, because it is made by separate makes.
AGAIN = $(MAKE) -s -f tools/build.mk CC='$(CC)'
check-base:
	+@if [ -f labs/RELEASE ]; then :; elif $(AGAIN) $(NPM)/.package-lock.json; then $(AGAIN) $(PAGE)/index.html; \
	else echo '  PAGE  npm could not fetch its packages: the tests of the page are left out'; fi

.PHONY: page
