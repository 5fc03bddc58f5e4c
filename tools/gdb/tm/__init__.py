"""The tm- commands of gdb: Tidemark's structures, printed from outside while the machine stands still.

The problem is that it may stand still anywhere: in the firmware, before a structure is set up, between the two stores
that link a list. So nothing here runs code of the kernel or trusts what it reads. Every walk is bounded and notices a
cycle; what is broken is told, with what could be read before it.

Three layers. `machine` is the one place that asks gdb for symbols, types and memory, when it is alone. Above it, one
file per structure has generators of plain records over a Machine, which know nothing of gdb: memory.View reads a
member of a structure, walk.py follows lists and trees. And each file ends in a command that prints its records.

What the debug information does not hold, the values of #defines, is in defines.py.
"""
