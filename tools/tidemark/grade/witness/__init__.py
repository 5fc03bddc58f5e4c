"""Evidence of a running kernel, taken from outside, which its console cannot influence."""
