"""The web UI names the memory in one module, for the type checker as for Python."""

import ast

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


def test_what_the_type_checker_reads_is_what_is_imported() -> None:
    path = next(path for path in runtime_modules() if name(path) == "webui/core.py")
    (choice,) = [each for each in tree(path).body if isinstance(each, ast.If)]
    read = [
        (alias.name, f"{statement.module}.{alias.name}")
        for statement in choice.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]
    assert len(read) == len(choice.body)
    assert {own: getattr(core, own).__name__ for own, _ in read} == dict(read)
