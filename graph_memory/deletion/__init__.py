"""Deletion for good: of people and of messages, in every file."""

from .forget_me import ForgetMe, Outcome, Tombstones

__all__ = ["ForgetMe", "Outcome", "Tombstones"]
