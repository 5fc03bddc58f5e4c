"""Strings of references, and policies compared on them: in the simulator, against MIN, and with a known future.

refstrings makes or reads strings, vmsim runs a policy's own C file over one, explain shows each of its decisions. On
this stand the comparisons: compare, worst, accessed_bits; min_faults and foresight take their strings from runs.
"""
