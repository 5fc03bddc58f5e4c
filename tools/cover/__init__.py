"""Which lines of the kernel the tests run: `make coverage`."""
