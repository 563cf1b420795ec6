"""Upkeep: what happens to memories while nobody is looking."""

from .upkeep import Forecast, Report, Upkeep

__all__ = ["Forecast", "Report", "Upkeep"]
