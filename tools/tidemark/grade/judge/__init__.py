"""Expected results, and verdicts on a student's kernel: one kind of test in each module of kinds/."""
