"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backups
from .backup_catalog import Backup, Preview, preview, saved
from .idle import IdleGate
from .restore import open_journal, stage
from .upkeep import Forecast, Report, Upkeep

__all__ = [
    "Backup",
    "Backups",
    "Forecast",
    "IdleGate",
    "Preview",
    "Report",
    "Upkeep",
    "open_journal",
    "preview",
    "saved",
    "stage",
]
