"""The figures of three works beside ours: what they claim as predicates, runs, and verdicts that are computed."""
