"""``./dev chaos``: kills, damages and surges, with progress and a result in JSON."""

import argparse
import json
import sys
import time
from typing import Any

from . import damages, kills, shared, surges


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="processes to kill (50)")
    parser.add_argument("--damages", type=int, default=20, help="graph files to damage (20)")
    parser.add_argument("--seed", type=int, default=1, help="of what is chosen; not of the clock")
    parser.add_argument("--host", choices=("bare", "astrbot"), default="bare")
    parser.add_argument("--shared", action="store_true", help="several bots on one memory")
    parser.add_argument("--faults", type=int, default=300, help="with --shared (300)")
    parser.add_argument("--without", default="", help="a guard to do without, to see it matters")
    options = parser.parse_args()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:6.0f} s] {text}", file=sys.stderr, flush=True)

    def killed(score: kills.Score) -> None:
        if score.kills % 10 == 0 or options.host != "bare":
            say(f"{score.kills} of {options.kills} kills, {score.comparisons} graphs compared")

    def damaged(toll: damages.Toll) -> None:
        done = sum(toll.damages.values())
        if done % 10 == 0:
            say(f"{done} of {options.damages} damages, the slowest start {toll.slowest:.1f} s")

    def harmed(toll: shared.Toll) -> None:
        if (done := toll.faults.total()) % 20 == 0:
            say(f"{done} of {options.faults} faults")

    result: dict[str, Any] = {"host": options.host, "seed": options.seed}
    if options.shared:
        campaign = shared.Campaign(options.seed, harmed, without=options.without)
        result["shared"] = campaign.run(options.faults).result()
    elif options.host == "bare":
        result["kills"] = kills.Campaign(options.seed, killed).run(options.kills).result()
        toll = damages.Campaign(options.seed, damaged).run(options.damages)
        result["damages"] = toll.result()
        for name in surges.WORKS:
            say(f"{name}: {surges.WORKS[name][1]:,} lines")
            result[name] = surges.run(name).result()
    else:
        from . import astrbot  # needs AstrBot, which the rest does not

        result["kills"] = astrbot.Campaign(options.seed, killed).run(options.kills).result()
    result["seconds"] = round(time.monotonic() - began)
    print(json.dumps(result, ensure_ascii=False, indent=2))
    parts = [part for part in result.values() if isinstance(part, dict)]
    return 1 if any(part["problems"] for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
