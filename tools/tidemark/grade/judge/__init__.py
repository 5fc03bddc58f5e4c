"""What is right, and the verdicts: one kind of test in each module of kinds/."""
