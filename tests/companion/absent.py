"""The plugin under a name of its own, whole or with the companion cut out of its code.

Cut out means gone: the companion's modules cannot be imported, and of every other module
those statements and arguments are left out, before it is compiled, that name something of
the companion. What the cut cannot decide by itself it refuses, so that new code is noticed.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from astrbot.core.star.star import star_map
from astrbot.core.star.star_handler import star_handlers_registry

from ..sources import ROOT

GONE = ("companion", "chat.keepsakes", "chat.heart", "host.control", "host.voice")
"""Modules of ``graph_memory`` that are the companion."""
PLACES = frozenset({"companion", "keepsakes", "heart"})
"""Attributes by which others hold it. A setting of that name is no code."""
HOOKS = frozenset({"decorate", "go_on", "settle"})
"""What of ``host/hooks.py`` is nothing but the companion."""
WITHOUT = {
    ("graph_memory.host.hooks", "reply"): """
async def reply(memory, event, response):
    caller = event.get_extra("graph_memory_caller")
    if caller and response.role == "assistant" and response.completion_text:
        await memory.learning.reply(caller.session, response.completion_text, to=caller.user)
"""
}
"""Functions that do something else besides, as they would be without it."""


@contextlib.contextmanager
def loaded(name: str, *, without: bool = False) -> Iterator[ModuleType]:
    """``main.py`` of the plugin as part of a package.

    Args:
        name: Of the package.
        without: Whether the companion is cut out.
    """
    finder = _Finder(name, without)
    sys.meta_path.insert(0, finder)
    try:
        main = importlib.import_module(f"{name}.main")
        yield main
    finally:
        sys.meta_path.remove(finder)
        for module in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
            del sys.modules[module]
            star_map.pop(module, None)
        for handler in star_handlers_registry.get_handlers_by_module_name(f"{name}.main"):
            star_handlers_registry.remove(handler)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules below a package in the plugin's sources."""

    def __init__(self, package: str, without: bool) -> None:
        self._package = package
        self._without = without

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == self._package:
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = []
            return spec
        if not fullname.startswith(f"{self._package}."):
            return None
        name = fullname.removeprefix(f"{self._package}.")
        if self._without and is_gone(name):
            raise ModuleNotFoundError(f"{name} is cut out", name=fullname)
        folder = ROOT / name.replace(".", "/")
        is_package = (folder / "__init__.py").is_file()
        file = folder / "__init__.py" if is_package else folder.with_suffix(".py")
        if not file.is_file():
            return None
        loader = (
            _Cutter(fullname, str(file), name)
            if self._without
            else importlib.machinery.SourceFileLoader(fullname, str(file))
        )
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=loader,
            submodule_search_locations=[str(folder)] if is_package else None,
        )


class _Cutter(importlib.machinery.SourceFileLoader):
    """Compiles what is left of a module; past its compiled form in the cache."""

    def __init__(self, fullname: str, path: str, name: str) -> None:
        super().__init__(fullname, path)
        self._short = name

    def get_code(self, fullname: str) -> Any:
        source = Path(self.path).read_text(encoding="utf-8")
        return compile(cut(source, self._short, self.is_package(fullname)), self.path, "exec")


def is_gone(name: str) -> bool:
    """Whether a module, by its name in the plugin, is the companion's."""
    return any(
        name == f"graph_memory.{gone}" or name.startswith(f"graph_memory.{gone}.") for gone in GONE
    )


def cut(source: str, name: str, is_package: bool = False) -> ast.Module:
    """What is left of a module without the companion.

    Raises:
        ValueError: Something depends on the companion in a way that cannot be left out.
    """
    tree = ast.parse(source)
    parts = name.split(".")
    work = _Cut(parts if is_package else parts[:-1], name)
    return ast.fix_missing_locations(work.visit(tree))


class _Cut(ast.NodeTransformer):
    def __init__(self, package: list[str], name: str) -> None:
        self._package = package
        self._name = name
        self._names: set[str] = set()
        """What was imported from modules that are gone."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        module = node.module or ""
        if node.level:
            above = self._package[: len(self._package) - node.level + 1]
            module = ".".join([*above, *([module] if module else [])])
        kept = []
        for alias in node.names:
            if is_gone(module) or is_gone(f"{module}.{alias.name}"):
                self._names.add(alias.asname or alias.name)
            else:
                kept.append(alias)
        node.names = kept
        return node if kept else None

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node.keywords = [each for each in node.keywords if not self._names_it(each.value)]
        self.generic_visit(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST | None:
        return self._function(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | None:
        if other := WITHOUT.get((self._name, node.name)):
            return ast.parse(other).body[0]
        before = len(node.body)
        self.generic_visit(node)
        is_empty = all(isinstance(each, ast.Expr) and _is_text(each) for each in node.body)
        return None if is_empty and len(node.body) < before else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.match_case | ast.If | ast.For | ast.With | ast.AsyncWith):
            node.body = node.body or [ast.Pass()]
        return node

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
            node = super().visit(node)  # arguments by name go first
            return None if self._names_it(node) else node
        for part in ("test", "iter", "subject", "items"):
            found = getattr(node, part, None)
            tests = found if isinstance(found, list) else [found] if found else []
            if any(self._names_it(each) for each in tests if isinstance(each, ast.AST)):
                raise ValueError(f"{self._name}: {ast.unparse(node)} cannot be left out")
        return super().visit(node)

    def _names_it(self, node: ast.AST) -> bool:
        return any(self._is_it(each) for each in ast.walk(node))

    def _is_it(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._names
        if not isinstance(node, ast.Attribute):
            return False
        owner = ast.unparse(node.value).split(".")[-1]
        if owner == "hooks":
            return node.attr in HOOKS
        return node.attr in PLACES and owner != "settings"


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
