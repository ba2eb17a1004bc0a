"""Synthetic counts on a cluster: a Spark DataFrame with texts in, one with counts out.

Needs the extra ``syntf[spark]`` and Java 17 or newer.
"""

from syntf.spark.frames import Release, anonymize, check_installed

__all__ = ["Release", "anonymize", "check_installed"]
