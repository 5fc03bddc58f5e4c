"""Grading: a student's files in the release's tree, judged by observing pages from outside the guest."""
