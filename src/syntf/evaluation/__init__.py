"""Measure what a release keeps for an analyst and what it reveals to an attacker."""

from syntf.evaluation.attack.writeprints import WritePrintsLimited

__all__ = ["WritePrintsLimited"]
