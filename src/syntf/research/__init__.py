"""The paper's evaluation, the frontier, and mechanisms of other systems.

Nothing in the product imports this package; the program loads its commands by name.
"""
