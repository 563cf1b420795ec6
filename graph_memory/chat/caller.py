"""Another name of a turn, until everybody uses it."""

from ..turn import Turn as Caller

__all__ = ["Caller"]
