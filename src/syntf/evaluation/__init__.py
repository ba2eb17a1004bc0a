"""Measures what a release keeps for an analyst and what it leaves to an attacker."""
