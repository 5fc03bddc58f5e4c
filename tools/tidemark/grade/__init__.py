"""Grading: a student's files in the release's tree, judged by what happened to pages as seen from outside the guest."""
