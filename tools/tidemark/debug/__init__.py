"""Inside a run that has ended: replay goes to any place of it by repeating it, backwards serves gdb at such a place,
and profile says in which functions of the kernel the time was spent.
"""
