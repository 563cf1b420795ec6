"""Fading page: the settings of forgetting, what they would do, and keeping them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ..charts import HEIGHT, WIDTH, curve
from ..core import errors, model, service, settings
from ..guard import read_form
from ..rendering import Memory, Pages, View, or_back

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
HORIZON = 730
"""Days that are drawn."""

Typed = Annotated[str, Query(max_length=20)]

routes = APIRouter()


@routes.get("/tuning")
async def tuning(
    request: Request,
    memory: Memory,
    pages: View,
    rate: Typed = "",
    threshold: Typed = "",
    interval: Typed = "",
) -> Response:
    """The settings in use, or others that are tried without being kept."""
    given = {"rate": rate, "threshold": threshold, "interval": interval}
    return await _show(request, memory, pages, {k: value for k, value in given.items() if value})


@routes.post("/tuning")
async def save(request: Request, memory: Memory, pages: View) -> Response:
    """Keep settings and go by them."""
    tune: Tune | None = request.app.state.tune
    form = await read_form(request)
    given = {name: form[name][:20] for name in FIELDS if form.get(name)}
    values, wrong = _read(given)
    if wrong or tune is None or not values:
        return await _show(request, memory, pages, given, 422)
    before = {name: _text(value) for name, value in _values(memory.settings).items()}
    with or_back("/tuning"):
        await tune({FIELDS[name]: value for name, value in values.items()})
    return pages.redirect("/tuning", what="tuned", before=before)


async def _show(
    request: Request,
    memory: service.MemoryService,
    pages: Pages,
    given: Mapping[str, str],
    status: int = 200,
) -> Response:
    in_use = _values(memory.settings)
    wanted, wrong = _read({**{k: str(v) for k, v in in_use.items()}, **given})
    tried = {**in_use, **wanted}
    rate, threshold = tried["rate"], tried["threshold"]
    return pages.render(
        request,
        "tuning.html",
        422 if wrong else status,
        drawn=curve(rate, threshold, HORIZON),
        width=WIDTH,
        height=HEIGHT,
        forecasts=await memory.upkeep.preview(SPANS, FEW, rate=rate, threshold=threshold),
        current=await memory.upkeep.preview(SPANS, 0),
        in_use=in_use,
        usual=_values(settings.Settings()),
        tried=tried,
        typed={**{k: _text(v) for k, v in tried.items()}, **given},
        wrong=wrong,
        is_changed=tried != in_use,
        can_save=request.app.state.tune is not None,
        names=FIELDS,
        last_run=await memory.upkeep.last_run(),
    )


def _values(found: settings.Settings) -> dict[str, float]:
    return {name: getattr(found, setting) for name, setting in FIELDS.items()}


def _text(value: float) -> str:
    return f"{value:g}"


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


@routes.get("/api/v1/tuning")
async def forecast(
    memory: Memory,
    rate: Annotated[float, Query(ge=0, le=100, allow_inf_nan=False)],
    threshold: Annotated[float, Query(ge=0, le=0.9, allow_inf_nan=False)],
) -> dict[str, Any]:
    """What would fade under some settings, for the script; nothing is saved."""
    drawn = curve(rate, threshold, HORIZON)
    tried = await memory.upkeep.preview(SPANS, FEW, rate=rate, threshold=threshold)
    in_use = await memory.upkeep.preview(SPANS, 0)
    forecasts = [
        {
            "days": each.days,
            "total": each.total,
            "in_use": now.total,
            "items": [_weak(line.fact) for line in each.lines],
        }
        for each, now in zip(tried, in_use, strict=True)
    ]
    lines = [{"points": each.points, "days": each.days, "mark": each.mark} for each in drawn.lines]
    return {"width": WIDTH, "floor": drawn.floor, "lines": lines, "forecasts": forecasts}


def _weak(fact: model.Fact) -> dict[str, str]:
    return {"id": fact.id, "statement": fact.statement}
