"""The tables, consoles and pictures of the documents: one table declares them (figures.toml, runs.toml,
consoles.toml), one runner makes them.

entries.py reads the table, made.py knows by which image each figure was made, runner.py makes figures. A figure's kind
is the module that makes it: consoles.py records a terminal, runs.py makes a table of measured runs, commands.py takes
pictures from reports of `tidemark`; `own` figures have logic of their own, in a function that their entry names.
"""
