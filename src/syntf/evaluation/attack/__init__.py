"""Attackers, their features, and how well a text is linked to its release."""
