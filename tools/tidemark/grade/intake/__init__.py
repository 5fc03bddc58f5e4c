"""Input of grading: labs from their lab.toml, and students' submissions."""
