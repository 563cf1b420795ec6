"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backups
from .restore import open_journal
from .shelf import Backup, Preview
from .upkeep import Forecast, Report, Upkeep

__all__ = ["Backup", "Backups", "Forecast", "Preview", "Report", "Upkeep", "open_journal"]
