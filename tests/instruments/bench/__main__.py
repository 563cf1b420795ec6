"""``./dev bench [--items N …] [--json]``, ``--years N [--plot FILE]``,
``--rebuild [--items N]``, ``--walks``, ``--pages`` or ``--felt [--pairs N]``.

Of each size: how long a question takes, without embedding it, if the asker sees all and if
the asker sees one item in 50, beside plain RRF in numpy over all items, asked right after
it so that a busy machine slows both; the same while the memory learns; how long it takes
until everything can be recalled after a start with vectors that are cached; resident memory
above that of an empty memory. A process of its own for each, so that none profits from
what another left behind.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .felt import measure_felt
from .measure import Figures, ask, fill, say
from .pages import measure_pages
from .rebuild import measure_rebuild
from .survey import PLOT, survey
from .years import COMPARED, SCENARIOS

QUESTIONS = 200
PAIRS = 100
TIMES = 20
WIDTH = 384
SIZES = (1_000, 10_000, 100_000)
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Recall uses one in any case. Plain RRF is faster on few cores with one, and with more its
idle threads would be in the way of whatever is measured next."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.instruments.bench", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", help=f"default: {SIZES}")
    parser.add_argument("--json", action="store_true", help="print figures only, as JSON")
    parser.add_argument(
        "--years", type=float, help="instead: live through so many years of chat, see years.py"
    )
    parser.add_argument("--plot", type=Path, help=f"with --years: where to draw, e.g. {PLOT}")
    parser.add_argument(
        "--scenario", nargs="+", choices=list(SCENARIOS), default=COMPARED, help="with --years"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="instead: the graph built anew, see rebuild.py"
    )
    parser.add_argument(
        "--walks", action="store_true", help="instead: functions that a message passes, walks.py"
    )
    parser.add_argument(
        "--pages", action="store_true", help="instead: every page of a large memory, see pages.py"
    )
    parser.add_argument("--felt", action="store_true", help="instead: real AstrBots, see felt.py")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="with --felt")
    options = parser.parse_args()
    if options.walks:
        from .walks import show_walks  # which imports AstrBot

        show_walks()
        return
    if options.pages:
        print(json.dumps(measure_pages(TIMES), indent=1))
        return
    if options.felt:
        print(json.dumps(measure_felt(options.pairs), indent=1))
        return
    if options.rebuild:
        (facts,) = options.items or (SIZES[2],)
        print(json.dumps(measure_rebuild(facts, QUESTIONS), indent=1))
        return
    if options.years:
        lived = survey(options.years, options.plot, options.scenario)
        print(json.dumps(lived, indent=1, ensure_ascii=False))
        return
    found: dict[int, Figures] = {}
    for items in options.items or SIZES:
        say(f"{items} items (load {os.getloadavg()[0]:.1f})")
        found[items] = measure(items)
    print(json.dumps(_summary(found), indent=1) if options.json else _table(found))


def measure(items: int) -> Figures:
    """Figures of one size: milliseconds, seconds, MB."""
    for name in BLAS_THREADS:
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    found: Figures = {"load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "journal.sqlite3"
        for work, extra in ((fill, ()), (ask, (QUESTIONS,))):
            say(f"  {work.__name__}")
            with ProcessPoolExecutor(1, mp_context=context) as process:
                found |= process.submit(work, path, items, WIDTH, *extra).result()
    return _rounded(found)


def _rounded(figures: Figures) -> Figures:
    return {
        key: _rounded(value) if isinstance(value, dict) else round(value, 3)
        for key, value in figures.items()
    }


def _summary(found: dict[int, Figures]) -> Figures:
    """All figures, those of the largest size at hand, and the two that are compared most."""
    largest = found[max(found)]
    usual = found.get(10_000, largest)
    return {
        "items": found, "ready": largest["ready"], "memory_mb": largest["memory_mb"],
        "recall_p95_ms": usual["all"]["p95_ms"], "rrf_p95_ms": usual["all"]["rrf_p95_ms"],
    }  # fmt: skip


def _table(found: dict[int, Figures]) -> str:
    titles = "items | sees all | sees 1/50 | while learning | plain RRF | ready, s | MB"
    lines = [f"| {titles} |", "|" + "---|" * 7]
    for items, figures in found.items():
        whole, part, busy = figures["all"], figures["one_in_50"], figures["busy"]
        times = " | ".join(
            f"{each[f'{of}p50_ms']:.1f} / {each[f'{of}p95_ms']:.1f} / {each[f'{of}p99_ms']:.1f}"
            for each, of in ((whole, ""), (part, ""), (busy, ""), (whole, "rrf_"))
        )
        ready = f"{figures['ready']['lexical_s']:.1f}, {figures['ready']['dense_s']:.1f}"
        lines.append(f"| {items} | {times} | {ready} | {figures['memory_mb']:.0f} |")
    note = "Milliseconds: p50 / p95 / p99, without embedding. Ready: words, then vectors."
    return "\n".join([*lines, "", note])


if __name__ == "__main__":
    main()
