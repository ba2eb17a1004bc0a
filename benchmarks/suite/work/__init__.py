"""What is measured: one module each, with a `prepare` that gives the round to time.

A module runs in a process of its own, started by ``work.py``, in the environment of whoever it
measures; so it imports nothing of the suite but what stands in this folder.
"""
