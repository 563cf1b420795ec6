"""Cases that are written as text, for the tests that play them."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

MANY, FEW = 60, 15
"""Examples of a property in the slow part, and in the fast one."""


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
    """Run a test with each row of the table of its name, whose values are its last parameters.

    One that needs nothing else is one test, as :func:`each_of` says.
    """
    table = rows(test.__code__.co_filename, test.__name__)
    width = len(table[0]) if isinstance(table[0], list) else 1
    names = [*inspect.signature(test).parameters]
    if len(names) == width and not inspect.iscoroutinefunction(test):
        return each_of(table)(test)
    return pytest.mark.parametrize(",".join(names[-width:]), table)(test)


def each_of(table: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test with each row of a table, all in one: a test by itself costs more than a row.

    Every row is tried, and those that fail are named.
    """

    def of(test: Callable[..., None]) -> Callable[[], None]:
        def play() -> None:
            failed = []
            for row in table:
                try:
                    test(*row) if isinstance(row, list | tuple) else test(row)
                except Exception as error:
                    error.add_note(f"with {row!r}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} rows", failed)

        play.__name__, play.__doc__, play.__module__ = test.__name__, test.__doc__, test.__module__
        return play

    return of


def examples(many: int) -> int:
    """How many examples a property is tried with here of those that it has in the slow part."""
    return max(4, many * settings().max_examples // MANY)
