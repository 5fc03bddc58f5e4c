"""Bug hunts: kernels with one changed line each, of which a student's name draws three."""
