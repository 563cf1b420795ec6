"""Parts of pages that are generated from the code: commands and settings.

A part stands between two comments; what is written around it is kept.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graph_memory.locales import TEXTS, say
from graph_memory.settings import SETTINGS
from tests import astrbot_root  # noqa: F401  (before anything imports AstrBot)
from tests.sources import ROOT

LANGUAGES = {"zh": "zh-CN", "en": "en-US"}
"""Languages of the pages, as folders of ``docs/`` and as AstrBot calls them."""
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- /generated -->)", re.DOTALL)
WORDS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("words.json").read_text("utf-8")
)


def table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    """A Markdown table; bars inside cells are escaped."""
    lines = [tuple(head), ("---",) * len(head), *rows]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def commands(language: str) -> str:
    """The commands of the ``memory`` group, in the order of ``/memory help``."""
    from graph_memory.astrbot import ADMINS, APART, COMMANDS

    words = WORDS[language]
    known = {each.name: each for each in (*COMMANDS, *APART)}
    names = [key.removeprefix("help_") for key in TEXTS[language] if key.startswith("help_")]

    def rows() -> Iterator[tuple[str, ...]]:
        for name in filter(known.__contains__, names):
            usage, _, about = say(language, f"help_{name}").partition(words["colon"])
            zh, en = (f"/记忆 {each}" for each in known[name].aliases.split()), [f"/memory {name}"]
            other = words["comma"].join(f"`{each}`" for each in (zh if language == "en" else en))
            yield f"`{usage}`", other, about, words["admins" if name in ADMINS else "all"]

    return table(words["commands"], rows())


def settings(language: str) -> str:
    """All settings, with what AstrBot's panel says of them."""
    words = WORDS[language]
    path = ROOT / ".astrbot-plugin" / "i18n" / f"{LANGUAGES[language]}.json"
    told = json.loads(path.read_text(encoding="utf-8"))["config"]

    def shown(default: object) -> str:
        if isinstance(default, bool):
            return str(words["on" if default else "off"])
        text = ", ".join(default) if isinstance(default, tuple) else str(default)
        return f"`{text}`" if text else str(words["empty"])

    def rows() -> Iterator[tuple[str, ...]]:
        for setting in SETTINGS:
            about = told[setting.name]
            labels = about.get("labels", ())
            named = words["comma"].join(
                f"`{choice}` {label}" for choice, label in zip(setting.choices, labels, strict=True)
            )
            hint = html.escape(about["hint"], quote=False).replace("*", r"\*")
            text = f"**{about['description']}**{words['stop']}{hint}"
            text += f" {named}{words['stop'].rstrip()}" if named else ""
            yield f"`{setting.name}`", shown(setting.default), text

    return table(words["settings"], rows())


PARTS: dict[str, Callable[[str], str]] = {"commands": commands, "settings": settings}


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with a generated part, and what it should be."""
    for language in LANGUAGES:
        for path in sorted((ROOT / "docs" / language).glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if PART.search(text):
                yield (
                    path,
                    PART.sub(
                        lambda found, of=language: found[1] + PARTS[found[2]](of) + found[3], text
                    ),
                )
