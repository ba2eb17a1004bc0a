"""Synthetic counts on a Spark cluster: a DataFrame with texts in, a release out.

Needs the extra ``syntf[spark]`` and Java 17 or newer.
"""

from syntf.spark.frames import Release, anonymize, check_installed

__all__ = ["Release", "anonymize", "check_installed"]
