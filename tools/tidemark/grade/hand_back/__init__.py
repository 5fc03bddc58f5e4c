"""Results of grading: the grade as a file, as text, as a picture, and for other systems; a class in a table."""
