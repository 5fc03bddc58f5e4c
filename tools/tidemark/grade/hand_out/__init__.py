"""What students get: the archive of the tree without solutions, and the starter of an assignment."""
