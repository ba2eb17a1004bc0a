"""Synthetic counts on a Spark cluster: a DataFrame with texts in, a release out.

Needs the extra ``syntf[spark]`` and Java 17 or newer.
"""

from syntf.spark.frames import Release, anonymize, check_installed
from syntf.spark.schemas import guarantee_of
from syntf.spark.stream_keys import StreamKey

__all__ = ["Release", "StreamKey", "anonymize", "check_installed", "guarantee_of"]
