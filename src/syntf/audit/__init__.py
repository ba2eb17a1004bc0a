"""Examines the program as it is installed: does it keep the promise that it makes?"""

from syntf.audit.finding import Finding
from syntf.audit.run import audit

__all__ = ["Finding", "audit"]
