"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backup, Backups, Preview, open_journal, preview, saved, stage
from .upkeep import IdleGate, Report, Upkeep

__all__ = [
    "Backup",
    "Backups",
    "IdleGate",
    "Preview",
    "Report",
    "Upkeep",
    "open_journal",
    "preview",
    "saved",
    "stage",
]
