"""The machine of a run: QEMU and its command line, the image that it boots, its disk, and the plugin that watches it.

These modules know nothing about results, telemetry or sweeps. qemu.py needs no package besides Python, so `make qemu`
works without the virtual environment; variables.txt lists make's variables, which are its settings.
"""
