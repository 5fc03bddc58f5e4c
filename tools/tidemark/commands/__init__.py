"""The commands, one module each: they read the arguments, call the package, and print. Libraries that are slow to load
are imported where they are used."""
