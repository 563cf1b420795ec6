"""Deletion for good: of people (forget me) and of retracted messages, in every file."""

from .forget_me import ForgetMe, Outcome
from .tombstones import Tombstones

__all__ = ["ForgetMe", "Outcome", "Tombstones"]
