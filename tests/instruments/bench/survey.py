"""Years of chat under several settings, side by side, with a plot."""

import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .measure import Figures, say
from .plot import Panel, draw
from .years import COMPARED, DAYS, LATELY, LONG_AGO, live

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Recall uses one in any case. Plain RRF is faster on few cores with one, and with more its
idle threads would be in the way of whatever is measured next."""
PLOT = Path("docs/images/two-years.svg")


def survey(years: float, plot: Path | None, scenarios: Sequence[str] = COMPARED) -> Figures:
    """Live through some years under each setting, at the same time; draw what came of it.

    Gives figures by month, of each of the ``SCENARIOS`` in ``years.py``, and what they come to.
    """
    chosen = list(scenarios)
    days = max(1, round(years * DAYS))
    say(f"{days} days, {len(chosen)} times (load {os.getloadavg()[0]:.1f})")
    for name in BLAS_THREADS:
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(chosen), mp_context=context) as processes:
        months = dict(zip(chosen, processes.map(live, chosen, [days] * len(chosen)), strict=True))
    if plot:
        plot.write_text(picture(months), encoding="utf-8")
        say(f"the plot is in {plot}")
    return {
        "days": days,
        "summary": {name: _summary(found) for name, found in months.items()},
        "months": months,
    }


def _summary(months: Sequence[Figures]) -> Figures:
    """The end, beside the middle: what grows and what does not."""
    middle, last = months[(len(months) - 1) // 2], months[-1]
    keys = ("messages", "live", "archived", "resident_mb", "p50_ms", "p95_ms", "night_s")
    sizes = ("journal_mb", "graph_mb")
    return {
        **{key: [middle[key], last[key]] for key in (*keys, *sizes)},
        "worst_p95_ms": max(month["p95_ms"] for month in months),
        "hits": last["hits"],
    }


def picture(months: Mapping[str, Sequence[Figures]]) -> str:
    labels = [month["month"] for month in next(iter(months.values()))]

    def lines(key: str, mark: str = "", scale: float = 1.0) -> dict[str, list[float | None]]:
        return {
            f"{name}{mark}": [None if month[key] is None else month[key] * scale for month in found]
            for name, found in months.items()
        }

    def hits(key: str, mark: str = "") -> dict[str, list[float | None]]:
        return {
            f"{name}{mark}": [month["hits"][key] for month in found]
            for name, found in months.items()
        }

    panels = [
        Panel("Live facts (dashed: archived)", lines("live") | lines("archived", "*")),
        Panel("Messages kept, thousands", lines("messages", scale=0.001)),
        Panel("Journal, MB (dashed: graph)", lines("journal_mb") | lines("graph_mb", "*")),
        Panel("Resident memory above the start, MB", lines("resident_mb")),
        Panel(
            "A reminder, ms of the processor: p95 (dashed: p50)",
            lines("p95_ms") | lines("p50_ms", "*"),
        ),
        Panel("The slowest night of upkeep in a month, s", lines("night_s")),
        Panel("Asked for what is still true: among the first 8", hits("current"), 1.0),
        Panel(
            f"Mentioned once, over {LONG_AGO} days ago (dashed: in the last {LATELY})",
            hits("long_ago") | hits("lately", "*"),
            1.0,
        ),
    ]
    return draw("A memory over the years", labels, panels)
