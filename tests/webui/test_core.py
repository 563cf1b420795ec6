"""The web UI names the memory in one module, and there the same way twice."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tests.sources import imports, name, runtime_modules, tree
from webui import core


def test_only_one_module_names_the_memory() -> None:
    naming = {
        name(path)
        for path in runtime_modules()
        if name(path).startswith("webui/")
        and any(each.split(".")[0] == "graph_memory" for each in imports(path))
    }
    assert naming == {"webui/core.py"}


def imported(body: Iterable[ast.stmt], level: int) -> list[tuple[str, str]]:
    found = []
    for statement in body:
        assert isinstance(statement, ast.ImportFrom)
        assert statement.level == level
        assert statement.module
        found += [(statement.module, alias.name) for alias in statement.names]
    return found


def test_both_ways_to_the_memory_lead_to_the_same_modules() -> None:
    path = next(path for path in runtime_modules() if name(path) == "webui/core.py")
    (choice,) = [each for each in tree(path).body if isinstance(each, ast.If)]
    beside, above = imported(choice.body, 0), imported(choice.orelse, 2)
    assert beside == above
    assert sorted(module for _, module in above) == core.__all__
