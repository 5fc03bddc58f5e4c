"""A report of runs and sweeps: one page that works offline, and figures for papers with the data behind them.

The way through the package:

    sources     folders to runs (with their telemetry) and cells (one row for each run of a sweep), or a message
    quantities  telemetry to columns of numbers: one function for each figure over time
    cells       rows of a sweep to panels of curves; fit: turnaround against memory
    timelines, curves, bars   columns to a Figure: a picture drawn from its table and from nothing else
    charts      the same columns to the interactive timelines of the page; page: the page itself
    folder      all of it into a folder that is there whole or not at all

A table of columns is a dict of equally long sequences, and is what the CSV beside a picture holds.
"""
