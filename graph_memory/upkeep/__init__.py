"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backups
from .restore import open_journal, stage
from .shelf import Backup, Preview, preview, saved
from .upkeep import Forecast, Report, Upkeep

__all__ = [
    "Backup",
    "Backups",
    "Forecast",
    "Preview",
    "Report",
    "Upkeep",
    "open_journal",
    "preview",
    "saved",
    "stage",
]
