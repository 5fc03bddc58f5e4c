"""Curves of a reference trace: the working set, LRU and MIN for all sizes at once, and how a program uses its pages."""
