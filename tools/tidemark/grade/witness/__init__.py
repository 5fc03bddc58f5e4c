"""What is seen of a kernel that runs, from outside: evidence that its console has no say in."""
