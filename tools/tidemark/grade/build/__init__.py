"""What is built of it: the tree, in a sandbox, and what its object files may contain."""
