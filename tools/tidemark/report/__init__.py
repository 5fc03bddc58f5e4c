"""A report of runs and sweeps: one page that works offline, and figures for papers with their data.

Data flows through the package in this order:

    sources     reads folders into runs (with their telemetry) and cells (one row for each run of a sweep), or a message
    quantities  turns telemetry into columns of numbers: one function for each figure over time
    cells       turns rows of a sweep into panels of curves; fit: turnaround against memory
    timelines, curves, bars   turn columns into a Figure: a picture drawn from its table alone
    charts      turns the same columns into the interactive timelines of the page; page: the page itself
    folder      writes everything into a folder, which appears complete or not at all
    procs       apart: pictures of one sample, for `tidemark procs`

A table of columns is a dict of equally long sequences, and is the content of the CSV beside a picture.
"""
