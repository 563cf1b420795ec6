"""``./dev docs``: write what is generated; with ``--site``, build the site in ``dist/site``."""

import argparse
import sys

from tests.instruments.dev import site
from tests.instruments.dev.steps import ROOT

from . import generated


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev docs", description=__doc__)
    parser.add_argument("--site", action="store_true", help="build the site of all pages, too")
    wanted = parser.parse_args(arguments)
    for path, text in generated.pages():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"   {path.relative_to(ROOT)}: written")
    return site.build(ROOT / "dist" / "site") if wanted.site else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
