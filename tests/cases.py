"""Cases that are written as text, for the tests that play them."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def cases(path: Path) -> dict[str, list[str]]:
    r"""The lines of each case of a file, by its name and its row of values.

    A case begins with ``# name``. Lines of ``* `` and values play it with each of them as ``$1``,
    ``$2`` …; ``\u{200d}`` is a character that cannot be seen; for ``12× …`` see :func:`repeated`.
    """
    text = re.sub(r"\\u\{(\w+)\}", lambda found: chr(int(found[1], 16)), path.read_text("utf-8"))
    lines = [each for line in text.splitlines() for each in repeated(line)]
    blocks = (block.splitlines() for block in "\n".join(lines).split("\n\n"))
    return {
        title: lines
        for head, *body in blocks
        if head.startswith("# ") and body and not body[0].startswith("#")
        for title, lines in _played(head[2:], body)
    }


def repeated(line: str) -> list[str]:
    """A line; ``300× text`` as many of them, each with its number for ``#``."""
    many = re.fullmatch(r"(\d+)× (.+)", line)
    return [many[2].replace("#", str(n)) for n in range(int(many[1]))] if many else [line]


def _played(title: str, body: list[str]) -> Iterator[tuple[str, list[str]]]:
    """A case once, or with each of its rows of values."""
    rows = [line[2:] for line in body if line.startswith("* ")]
    lines = [line for line in body if not line.startswith("* ")]
    if not rows:
        yield title, lines
    for row in rows:
        values = [value.strip() for value in row.split(";")]
        filled = "\n".join(lines)
        for number, value in enumerate(values, 1):
            filled = filled.replace(f"${number}", value)
        yield f"{title}: {row}", filled.splitlines()


def words(text: str) -> list[str]:
    """What stands between semicolons; nothing for a dash."""
    return [] if text == "-" else [word.strip() for word in text.split(";")]


def rows(module: str, name: str) -> list[Any]:
    """The rows of a table of values, a JSON value a line, in the file beside a test module."""
    text = Path(module).with_suffix(".jsonl").read_text("utf-8")
    table = text.partition(f"# {name}\n")[2].partition("\n\n")[0]
    return [json.loads(line) for line in table.splitlines()]


def tabled(test: Callable[..., Any]) -> Any:
    """Run a test with each row of the table of its name, whose values are its last parameters."""
    table = rows(test.__code__.co_filename, test.__name__)
    width = len(table[0]) if isinstance(table[0], list) else 1
    names = [*inspect.signature(test).parameters][-width:]
    return pytest.mark.parametrize(",".join(names), table)(test)
