"""Tidemark's lab: run experiments on the kernel, and look at what came of them.

`tidemark --help` lists the commands.
"""
