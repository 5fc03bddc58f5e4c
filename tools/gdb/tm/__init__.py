"""The tm- commands of gdb: they print Tidemark's data structures from outside while the machine is stopped.

The machine may be stopped anywhere: in the firmware, before a structure is set up, or between the two stores that
link a list. So nothing here runs kernel code or trusts what it reads. Every walk is bounded and detects cycles. If a
structure is broken, the command says so, after printing what could be read.

There are three layers. `machine` is the only file that asks gdb for symbols, types and memory. Above it, each
structure has a file with generators of plain records over a Machine, independent of gdb: memory.View reads a
member of a structure, walk.py follows lists and trees. Each file ends in a command that prints its records.

The values of #defines, which debug information does not hold, are in defines.py.
"""
