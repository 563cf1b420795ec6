"""Upkeep: what happens to memories while nobody is looking."""

from .backup import Backup as Backup
from .backup import Backups as Backups
from .backup import Preview as Preview
from .backup import open_journal as open_journal
from .backup import preview as preview
from .backup import saved as saved
from .backup import stage as stage
from .upkeep import Report as Report
from .upkeep import Upkeep as Upkeep
