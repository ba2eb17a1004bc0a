"""Benchmarks, one module each. Its function `prepare` returns the function to time.

``work.py`` runs a module in its own process, in the environment of the program that is measured. So
a module imports nothing from the suite except modules of this folder.
"""
