# build/book: the printed book. core.pdf has the source that docs/guide/core.txt lists, guide.pdf the guide as its commentary.

PRINT := tools/page/book/print
CORE := $(shell grep -E '^[^\#].*/' docs/guide/core.txt 2>/dev/null)

book: build/book/core.pdf build/book/guide.pdf
	@echo 'build/book/core.pdf and build/book/guide.pdf: the source, and the guide as its commentary'

build/book/core.html: $(CORE) docs/guide/core.txt $(wildcard $(PRINT)/listing.*)
	@mkdir -p $(@D)
	$Q$(BOOK_PYTHON) $(PRINT)/listing.py $@

# Sphinx's links from the one page are those of a page in the folder above it.
build/book/guide.html: $(BOOK_DOCS) $(wildcard $(PRINT)/*.*) $(CORE)
	@mkdir -p $(@D)
	$Q$(BOOK_PYTHON) -m sphinx -q -E -a -W --keep-going -c $(PRINT) -d build/doctrees-print -b singlehtml docs $(@D)
	$Qcp $(@D)/guide/README.html $@

build/book/%.pdf: build/book/%.html $(PRINT)/press.py
	$(call say,BOOK,$@)
	$Q$(BOOK_PYTHON) $(PRINT)/press.py $< $@

.PHONY: book
