"""Swarm testing of the whole machine: random configurations, general checks, and failures that are shortened.

A test that always enables every feature hides interactions between features: a queue that is always full never runs
empty. So each random run has a random subset of the features (Groce et al., Swarm testing, ISSTA 2012): draw.py. The
result is judged by rules that hold for all runs: judge.py. A failure is shortened until nothing can be left out, and
printed as one command: hunt.py. session.py converts a random run to the guest's input.
"""
