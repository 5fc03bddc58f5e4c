"""Telemetry: the records that the kernel writes during a run, and what is computed from the records alone.

stream reads and checks them, records.py has their types. From them follow the verdict on thrashing, the story of a run
in a sentence, the owners of frames, tracks for Perfetto, and the line that shows progress.
"""
