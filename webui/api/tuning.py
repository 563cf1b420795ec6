"""What would fade under other settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from graph_memory.service import MemoryService
from graph_memory.upkeep import Forecast

from ..curve import HEIGHT, WIDTH, Curve, curve
from .base import Out
from .facts import FactOut

SPANS = (0, 30, 90, 365)
"""Days of the forecasts."""
FEW = 5
"""Facts listed for each."""
HORIZON = 730
"""Days that are drawn."""


class Trial:
    """Settings to try out.

    Args:
        rate, threshold: ``time_decay_rate`` and ``min_importance_threshold``; ``None`` for
            those in use.
    """

    def __init__(
        self,
        rate: Annotated[float | None, Query(ge=0, le=100, allow_inf_nan=False)] = None,
        threshold: Annotated[float | None, Query(ge=0, le=0.9, allow_inf_nan=False)] = None,
    ) -> None:
        self._rate = rate
        self._threshold = threshold

    def rate(self, service: MemoryService) -> float:
        """How fast memories fade."""
        return service.settings.time_decay_rate if self._rate is None else self._rate

    def threshold(self, service: MemoryService) -> float:
        """Below which retention they are archived."""
        in_use = service.settings.min_importance_threshold
        return in_use if self._threshold is None else self._threshold


class LineOut(Out):
    """How a fact of one importance fades."""

    importance: float
    points: str = Field(description="x,y … of a polyline.")
    days: float | None = Field(description="After which it is archived; null: never.")
    mark: tuple[float, float] | None


class ForecastOut(Out):
    """What would be archived within some days, if nobody mentions it again."""

    days: int
    total: int
    in_use: int = Field(description="How many it is by the settings in use.")
    items: list[FactOut] = Field(description="The weakest of them.")


class TuningOut(Out):
    """What settings would do."""

    width: float
    height: float
    floor: float = Field(description="Height of the threshold.")
    lines: list[LineOut]
    forecasts: list[ForecastOut]

    @classmethod
    def of(cls, drawn: Curve, forecasts: list[Forecast], in_use: list[Forecast]) -> TuningOut:
        """From curve and forecasts."""
        lines = [
            LineOut(importance=line.importance, points=line.points, days=line.days, mark=line.mark)
            for line in drawn.lines
        ]
        return cls(
            width=WIDTH,
            height=HEIGHT,
            floor=drawn.floor,
            lines=lines,
            forecasts=[
                ForecastOut(
                    days=each.days,
                    total=each.total,
                    in_use=now.total,
                    items=[FactOut.of(line) for line in each.lines],
                )
                for each, now in zip(forecasts, in_use, strict=True)
            ],
        )


def routes(service: MemoryService) -> APIRouter:
    """``/tuning``."""
    api = APIRouter()

    @api.get("/tuning")
    async def tuning(trial: Annotated[Trial, Depends()]) -> TuningOut:
        """What would fade under some settings, and how; nothing is saved."""
        rate, threshold = trial.rate(service), trial.threshold(service)
        tried = await service.upkeep.preview(SPANS, FEW, rate=rate, threshold=threshold)
        in_use = await service.upkeep.preview(SPANS, 0)
        return TuningOut.of(curve(rate, threshold, HORIZON), tried, in_use)

    return api
