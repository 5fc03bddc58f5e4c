"""Swarm testing of the whole machine: drawn configurations, judges, and failures made short.

A test that always turns everything on hides what one feature does to another: a queue that is always full never runs
dry. So each drawn run has a random subset of the features (Groce et al., Swarm testing, ISSTA 2012): draw.py. What came
of it is judged by rules that hold for all of them: judge.py. What fails is made shorter, until nothing can be left out,
and printed as one command: hunt.py. session.py makes of a drawn run what the guest does.
"""
