"""Building a submission: the tree, the sandbox, and the rules on what object files may contain."""
