"""The table of figures: what each one shows, in which columns and units, its caption, and how to read it.

runs.py has the figures of runs, sweeps.py those of sweeps; plot.py says what an entry consists of. The pictures
(timelines.py, bars.py, curves.py), the charts of the page (charts.py), the CSV files and the section on figures of
docs/reference/measuring.md (`make figures FIGURES=plots` writes it) all come from here. An entry with lines that have a
`source` is drawn over time, all runs on the same axes, and needs no other code; the others have their own functions
in those files. docs/guide/add-a-plot.md explains it step by step.
"""

from tidemark.report.plots import runs, sweeps

PLOTS = [*runs.PLOTS, *sweeps.PLOTS]
