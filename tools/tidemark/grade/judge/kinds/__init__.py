"""The kinds of tests a lab can have: kinds/NAME.py has `judge(test, machine) -> Verdict` for `kind = "NAME"`.

A kind that needs more than the kernel has `needs(test) -> tuple[str, ...]`, targets of make in the student's tree.
They are made before the tests begin, which run at the same time; machine.build_results has what came of each. What can
be known before there is a kernel, a kind may find out in `foresee(test, machine)`, beside the building, and keep.
"""
