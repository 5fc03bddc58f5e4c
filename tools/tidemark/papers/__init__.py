"""The figures of three works and of the classics beside ours: claims as predicates, runs, and computed verdicts."""
