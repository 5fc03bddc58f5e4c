# build/page/book: the guide and the reference as pages, with the figures that run (tools/page/book).

BOOK := $(PAGE)/book
BOOK_SRC := $(wildcard tools/page/book/*.* tools/page/book/static/*)
BOOK_DOCS := $(shell find docs -type f 2>/dev/null)
BOOK_PYTHON = $(or $(wildcard build/venv/bin/python),python3)

# Builds everything anew: Sphinx would not notice a change of the scripts that make the figures.
$(BOOK)/index.html: $(BOOK_SRC) $(BOOK_DOCS)
	$(call say,BOOK,$(BOOK))
	$Q$(BOOK_PYTHON) -m sphinx -q -E -a -W --keep-going -c tools/page/book -d build/book -b html docs $(BOOK)

$(BOOK)/parts.css: $(PAGE)/index.html $(BOOK)/index.html
	$Qnode tools/page/book/parts.js $(PAGE)/style.css $@ $(NPM)

page: $(BOOK)/parts.css
