"""AstrBot's root is set before any test here imports AstrBot."""

from .. import astrbot_root  # noqa: F401
