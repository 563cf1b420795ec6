"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backups
from .erasure import Erasure
from .restore import open_journal
from .shelf import Backup, Preview
from .upkeep import Forecast, Report, Upkeep

__all__ = [
    "Backup",
    "Backups",
    "Erasure",
    "Forecast",
    "Preview",
    "Report",
    "Upkeep",
    "open_journal",
]
