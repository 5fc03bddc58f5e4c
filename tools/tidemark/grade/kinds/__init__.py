"""The kinds of tests a lab can have: kinds/NAME.py has `judge(test, bench) -> Verdict` for `kind = "NAME"`."""
