"""Fading page: the settings of forgetting, what they would do, and keeping them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from ..core import errors, presentation, settings
from ..rendering import Memory, Visit, or_back

Tune = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Keeps some settings for good and goes by them from now on."""
FIELDS = {
    "rate": "time_decay_rate",
    "threshold": "min_importance_threshold",
    "interval": "prune_interval",
}
"""The settings, by what they are called in addresses and forms."""
SPANS = (0, 30, 90, 365)
"""Days of the forecasts."""
FEW = 5
"""Facts listed for each."""
TICKS = (180, 360, 540, 720)
IMPORTANCES = (0.0, 0.25, 0.5, 0.75, 1.0)

routes = APIRouter()


@routes.get("/tuning")
async def tuning(memory: Memory, visit: Visit) -> Response:
    """The settings in use, or others that are tried without being kept."""
    return await _show(memory, visit, _given(visit.query))


@routes.post("/tuning")
async def save(memory: Memory, visit: Visit) -> Response:
    """Keep settings and go by them."""
    given, tune = _given(visit.form), visit.app.tune
    values, wrong = _read(given)
    if wrong or tune is None or not values:
        return await _show(memory, visit, given, 422)
    before = {name: f"{value:g}" for name, value in _values(memory.settings).items()}
    with or_back("/tuning"):
        await tune({FIELDS[name]: value for name, value in values.items()})
    return visit.redirect("/tuning", what="tuned", before=before)


def _given(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields[name][:20] for name in FIELDS if fields.get(name)}


async def _show(
    memory: Memory, visit: Visit, given: Mapping[str, str], status: int = 200
) -> Response:
    in_use = _values(memory.settings)
    wanted, wrong = _read({**{k: str(v) for k, v in in_use.items()}, **given})
    tried = {**in_use, **wanted}
    rate, threshold = tried["rate"], tried["threshold"]
    return visit.render(
        "tuning.html",
        status,
        lines=[presentation.fading_line(each, rate, threshold) for each in IMPORTANCES],
        floor=presentation.height_of(threshold),
        ticks=[(presentation.WIDTH * day / presentation.HORIZON, day) for day in TICKS],
        width=presentation.WIDTH,
        height=presentation.HEIGHT,
        forecasts=await memory.upkeep.preview(SPANS, FEW, rate=rate, threshold=threshold),
        current=await memory.upkeep.preview(SPANS, 0),
        in_use=in_use,
        usual=_values(settings.Settings()),
        tried=tried,
        typed={**{k: f"{v:g}" for k, v in tried.items()}, **given},
        wrong=wrong,
        is_changed=tried != in_use,
        can_save=visit.app.tune is not None,
        names=FIELDS,
        last_run=await memory.upkeep.last_run(),
    )


def _values(found: settings.Settings) -> dict[str, float]:
    return {name: getattr(found, setting) for name, setting in FIELDS.items()}


def _read(given: Mapping[str, str]) -> tuple[dict[str, float], set[str]]:
    """What was typed as values, and the names of what cannot be used."""
    checks = {each.name: each for each in settings.SETTINGS if each.name in settings.TUNABLE}
    values: dict[str, float] = {}
    wrong: set[str] = set()
    for name, text in given.items():
        try:
            values[name] = checks[FIELDS[name]].check(text.strip())
        except errors.SettingError:
            wrong.add(name)
    return values, wrong
