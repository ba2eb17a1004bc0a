"""Audit the installed program: does it keep the guarantee that it gives?"""

from syntf.audit.result import CheckResult
from syntf.audit.run import audit

__all__ = ["CheckResult", "audit"]
