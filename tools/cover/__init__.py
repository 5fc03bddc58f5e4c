"""The lines of the kernel that the tests run: `make coverage`."""
