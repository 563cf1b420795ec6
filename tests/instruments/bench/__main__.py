"""``./dev bench [--items N …] [--json]``, ``--years N [--plot FILE]`` or ``--felt [--pairs N]``.

Of each size: how long a question takes, without embedding it, if the asker sees all and if
the asker sees one item in 50, beside plain RRF in numpy over all items, asked right after
it so that a busy machine slows both; how long it takes until everything can be recalled after a
start with vectors that are cached; resident memory above that of an empty memory. A process of
its own for each, so that none profits from what another left behind.
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
from .survey import BLAS_THREADS, PLOT, survey
from .years import COMPARED, SCENARIOS

QUESTIONS = 200
PAIRS = 100
WIDTH = 384
SIZES = (1_000, 10_000, 100_000)


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
    parser.add_argument("--felt", action="store_true", help="instead: real AstrBots, see felt.py")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="with --felt")
    options = parser.parse_args()
    if options.felt:
        print(json.dumps(measure_felt(options.pairs), indent=1))
        return
    if options.years:
        lived = survey(options.years, options.plot, options.scenario)
        print(json.dumps(lived, indent=1, ensure_ascii=False))
        return
    found: dict[int, Figures] = {}
    for items in options.items or SIZES:
        say(f"{items} items (load {os.getloadavg()[0]:.1f})")
        found[items] = measure(items)
    print(json.dumps(found, indent=1) if options.json else _table(found))


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


def _table(found: dict[int, Figures]) -> str:
    lines = ["| items | sees all | sees 1/50 | plain RRF | ready, s | MB |", "|" + "---|" * 6]
    for items, figures in found.items():
        of = (figures[name] for name in ("all", "one_in_50", "rrf"))
        times = " | ".join(f"{each['p50_ms']:.1f} / {each['p95_ms']:.1f}" for each in of)
        ready = f"{figures['ready']['lexical_s']:.1f}, {figures['ready']['dense_s']:.1f}"
        lines.append(f"| {items} | {times} | {ready} | {figures['memory_mb']:.0f} |")
    note = "Milliseconds: p50 / p95, without embedding. Ready: words, then vectors."
    return "\n".join([*lines, "", note])


if __name__ == "__main__":
    main()
