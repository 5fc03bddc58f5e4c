"""The quiz: a string of references for each student, and questions about it, with exact keys."""
