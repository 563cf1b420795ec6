"""Names in the product: no module or class twice, first lines that read like a contents list."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.sources import name, project_files, read, runtime_modules, tree

pytestmark = pytest.mark.xdist_group("sources")

LONGEST = 80
"""Characters of a docstring's first line."""


def twice(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names that stand for more than one thing, with the places of each."""
    found: dict[str, list[str]] = defaultdict(list)
    for each, place in names:
        found[each].append(place)
    return {each: places for each, places in found.items() if len(places) > 1}


def modules() -> Iterator[tuple[str, str]]:
    """Modules and packages by their own name; the top-level ones are fixed."""
    for path in runtime_modules():
        yield (path.parent.name if path.stem == "__init__" else path.stem), name(path)


def classes() -> Iterator[tuple[str, str]]:
    for path in runtime_modules():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                yield node.name.lstrip("_"), name(path)


def _first_lines(path: Path) -> Iterator[tuple[str, str]]:
    """First docstring lines of a module, its public classes and functions, with the place."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or "· "
            if "· " not in text:  # which AstrBot shows as a command's description
                yield text.split("\n\n", 1)[0], f"{name(path)}:{getattr(node, 'name', '')}"


def wrong_first_lines() -> list[str]:
    """Places whose docstring does not begin with one short sentence."""
    return [
        f"{place}: {line!r}"
        for path in runtime_modules()
        for line, place in _first_lines(path)
        if "\n" in line or len(line) > LONGEST or not line.endswith(".")
    ]


def test_no_module_name_stands_for_two_things() -> None:
    assert not twice(modules())


def test_no_class_name_stands_for_two_things() -> None:
    assert not twice(classes())


def test_a_docstring_begins_with_one_short_sentence() -> None:
    assert not wrong_first_lines()


def test_twice_finds_what_is_there_twice() -> None:
    assert twice([("a", "x.py"), ("b", "x.py"), ("a", "y.py")]) == {"a": ["x.py", "y.py"]}


def test_modules_that_are_named_in_texts_exist() -> None:
    """Docstrings and docs name modules as ``room/module.py``."""
    known = [name(path) for path in project_files()]
    texts = [*runtime_modules(), *(path for path in project_files() if path.suffix == ".md")]
    missing = [
        f"{name(path)}: {named}"
        for path in texts
        if path.name != "CHANGELOG.md"
        for named in re.findall(r"`((?:\w+/)*\w+\.py)`", read(path))
        if not any(each == named or each.endswith(f"/{named}") for each in known)
    ]
    assert not missing
