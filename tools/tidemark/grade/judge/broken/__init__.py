"""Break my code: one line of a student's own file is changed, and the student predicts which test fails first."""
