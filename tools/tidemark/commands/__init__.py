"""The commands, one module each: they read the arguments, call the package, and print the results. Libraries that load
slowly are imported inside the functions that use them."""
