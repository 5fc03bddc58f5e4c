"""Runs: one run into a result's folder, many runs as a sweep, and what can be said about a run as a whole.

A result is a folder (results) that an experiment fills; it can be repeated with the image that made it (repeat,
result_image) and told in numbers (summary, quartiles). A sweep's plan (plan) has cells; a runner hands those that are
missing (sweep, estimate) to the cores of this machine or of a cluster (runner, cluster). bound is the least time that
any policy could take.
"""
