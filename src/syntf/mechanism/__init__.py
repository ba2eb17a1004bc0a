"""The mechanisms: rows of integers, the privacy loss measured on them, and exact samplers."""

from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.response import ResponseMechanism

__all__ = ["ExponentialMechanism", "ResponseMechanism"]
