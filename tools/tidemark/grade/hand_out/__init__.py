"""Files for students: the archive of the tree without solutions, and the starter of an assignment."""
