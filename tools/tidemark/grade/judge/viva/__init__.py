"""A viva in gdb: questions about one fault of a student's own run, with keys from the run's events."""
