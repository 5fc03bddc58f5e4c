"""The kinds of tests a lab can have: kinds/NAME.py has `judge(test, machine) -> Verdict` for `kind = "NAME"`.

A kind that needs more than the kernel has `needs(test) -> tuple[str, ...]`, targets of make in the student's tree.
They are made before the tests, which run at the same time; machine.build_results has their results. A kind can compute
what does not need a kernel in `foresee(test, machine)`, which runs during the build, and store it.
"""

FORMER = {"asked": "script", "found": "fault_place"}  # earlier names of kinds, which assignments may still use
