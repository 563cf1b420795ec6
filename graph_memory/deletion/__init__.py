"""Deletion for good: of people and of messages, in every file."""

from .forget_me import ForgetMe as ForgetMe
from .forget_me import Outcome as Outcome
from .forget_me import Tombstones as Tombstones
