"""How fast memories fade: the settings, what they would do, and keeping them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from graph_memory.errors import GraphMemoryError, SettingError
from graph_memory.service import MemoryService
from graph_memory.settings import SETTINGS, TUNABLE, Settings

from ..api.tuning import FEW, HORIZON, SPANS
from ..curve import HEIGHT, WIDTH, curve
from ..guard import read_form
from ..view import Pages

Tune = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Keeps some settings for good and goes by them from now on."""

FIELDS = {
    "rate": "time_decay_rate",
    "threshold": "min_importance_threshold",
    "interval": "prune_interval",
}
"""The settings, by what they are called in addresses and forms."""


def router(service: MemoryService, pages: Pages, tune: Tune | None) -> APIRouter:
    """``/tuning``.

    Args:
        tune: ``None`` if settings cannot be kept from here.
    """
    routes = APIRouter(include_in_schema=False)

    @routes.get("/tuning")
    async def look(
        request: Request,
        rate: Annotated[str, Query(max_length=20)] = "",
        threshold: Annotated[str, Query(max_length=20)] = "",
        interval: Annotated[str, Query(max_length=20)] = "",
    ) -> Response:
        given = {"rate": rate, "threshold": threshold, "interval": interval}
        return await show(request, {name: value for name, value in given.items() if value})

    async def show(request: Request, given: Mapping[str, str], status: int = 200) -> Response:
        in_use = _values(service.settings)
        wanted, wrong = _read({**{k: str(v) for k, v in in_use.items()}, **given})
        tried = {**in_use, **wanted}
        rate, threshold = tried["rate"], tried["threshold"]
        forecasts = await service.upkeep.preview(SPANS, FEW, rate=rate, threshold=threshold)
        return pages.render(
            request,
            "tuning.html",
            422 if wrong else status,
            drawn=curve(rate, threshold, HORIZON),
            width=WIDTH,
            height=HEIGHT,
            forecasts=forecasts,
            current=await service.upkeep.preview(SPANS, 0),
            in_use=in_use,
            usual=_values(Settings()),
            tried=tried,
            typed={**{k: _text(v) for k, v in tried.items()}, **given},
            wrong=wrong,
            is_changed=tried != in_use,
            can_save=tune is not None,
            names=FIELDS,
            last_run=await service.upkeep.last_run(),
        )

    @routes.post("/tuning")
    async def save(request: Request) -> Response:
        form = await read_form(request)
        given = {name: form[name][:20] for name in FIELDS if form.get(name)}
        values, wrong = _read(given)
        if wrong or tune is None or not values:
            return await show(request, given, 422)
        before = _values(service.settings)
        try:
            await tune({FIELDS[name]: value for name, value in values.items()})
        except GraphMemoryError as error:
            return pages.redirect("/tuning", what="failed", reason=str(error))
        return pages.redirect(
            "/tuning", what="tuned", before={k: _text(v) for k, v in before.items()}
        )

    return routes


def _values(settings: Settings) -> dict[str, float]:
    return {name: getattr(settings, setting) for name, setting in FIELDS.items()}


def _text(value: float) -> str:
    return f"{value:g}"


def _read(given: Mapping[str, str]) -> tuple[dict[str, float], set[str]]:
    """What was typed as values, and the names of what cannot be used."""
    checks = {setting.name: setting for setting in SETTINGS if setting.name in TUNABLE}
    values: dict[str, float] = {}
    wrong: set[str] = set()
    for name, text in given.items():
        try:
            values[name] = checks[FIELDS[name]].check(text.strip())
        except SettingError:
            wrong.add(name)
    return values, wrong
