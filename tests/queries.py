"""Finding queries that are put together from anything but constants.

Chat text must reach SQLite and Kùzu as parameters only. A query is accepted if it is a
constant, or is assembled from constants of the module, from local names that are, and
from repeated marks such as ``",".join("?" * n)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.sources import name, tree

RUNNERS = frozenset({"execute", "executemany", "executescript", "prepare"})
"""Methods whose first argument is a query; in ``graph/`` also ``run``."""
REVIEWED = {
    "graph_memory/graph/database.py:run": "hands on what its callers, checked here, pass to it",
    "graph_memory/graph/database.py:build": "statements made of names of the schema",
    "graph_memory/graph/database.py:load": "names of the schema, the own file path, escaped",
    "graph_memory/store/schema.py:_apply": "the statements of MIGRATIONS",
    "graph_memory/store/queries.py:paginate": "queries made of constants",
    "graph_memory/store/schema.py:open_tables": "names of the classes and fields of rows",
    "graph_memory/transfer/sources/source.py:pages": "queries are constants of the sources",
    "graph_memory/store/rows.py:find": "formats the names of its own parameters",
}
"""Functions that format something else, and why that is safe."""


def unsafe_queries(path: Path) -> list[str]:
    """``file:function`` of every query in a module that is not made of constants."""
    module = tree(path)
    constants = dict(_constants(module))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found: list[str] = []
    runners = RUNNERS | ({"run"} if "/graph/" in name(path) else set())
    for function, call in _calls(module, runners):
        scope = _Scope(function, constants, imported)
        if not scope.is_constant(call.args[0]):
            found.append(f"{name(path)}:{function.name if function else ''}")
    return found


def _constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names that the module binds at its top, with what they are bound to."""
    for node in module.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for name, value in zip(target.elts, node.value.elts, strict=True):
                    if isinstance(name, ast.Name):
                        yield name.id, value


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _calls(
    node: ast.AST, runners: frozenset[str], function: Function | None = None
) -> Iterator[tuple[Function | None, ast.Call]]:
    """Calls that run a query, each with the outermost function around it."""
    for child in ast.iter_child_nodes(node):
        inside = function or (child if isinstance(child, Function) else None)
        if (
            isinstance(child, ast.Call)
            and child.args
            and isinstance(child.func, ast.Attribute)
            and child.func.attr in runners
        ):
            yield function, child
        yield from _calls(child, runners, inside)


class _Scope:
    """Names as one function sees them."""

    def __init__(
        self, function: Function | None, constants: dict[str, ast.expr], imported: set[str]
    ) -> None:
        self._constants = constants
        self._imported = imported
        self._local: dict[str, list[ast.expr | None]] = {}
        self._open: set[str] = set()
        for node in ast.walk(function) if function else ():
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, node.value)
            case ast.AnnAssign(value=ast.expr() as value):
                self._assign(node.target, value)
            case ast.AugAssign():
                self._assign(node.target, node.value)
            case ast.NamedExpr():
                self._assign(node.target, node.value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._loop(node.target, node.iter)
            case ast.arguments():
                for argument in (*node.posonlyargs, *node.args, *node.kwonlyargs):
                    self._local.setdefault(argument.arg, []).append(None)

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._local.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for index, part in enumerate(target.elts):
                self._assign(part, parts[index] if len(parts) == len(target.elts) else None)

    def _loop(self, target: ast.expr, values: ast.expr) -> None:
        if isinstance(values, ast.Name) and values.id in self._constants:
            values = self._constants[values.id]
        if isinstance(values, (ast.Tuple, ast.List)):
            for value in values.elts:
                self._assign(target, value)
        elif self.is_constant(values):  # whatever it yields stands in the code
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    self._assign(part, values)
        else:
            self._assign(target, None)

    def is_constant(self, node: ast.expr | None) -> bool:
        """Whether an expression can only be text that stands in the code."""
        match node:
            case ast.Constant():
                return True
            case ast.JoinedStr():
                return all(self.is_constant(part) for part in node.values)
            case ast.FormattedValue() | ast.Starred():
                return self.is_constant(node.value)
            case ast.BinOp(op=ast.Add()):
                return self.is_constant(node.left) and self.is_constant(node.right)
            case ast.BinOp(op=ast.Mult()):  # marks, repeated
                return self.is_constant(node.left) or self.is_constant(node.right)
            case ast.IfExp():
                return self.is_constant(node.body) and self.is_constant(node.orelse)
            case ast.Tuple() | ast.List():
                return all(self.is_constant(part) for part in node.elts)
            case ast.Dict():
                return all(map(self.is_constant, node.values))
            case ast.Subscript():  # one of several constants
                return self.is_constant(node.value)
            case ast.GeneratorExp() | ast.ListComp():
                return self._comprehension(node.generators, node.elt)
            case ast.DictComp():
                return self._comprehension(node.generators, node.value)
            case ast.Call(func=ast.Attribute(attr="items" | "values", value=table), args=[]):
                return self.is_constant(table)
            case ast.Call(func=ast.Attribute(attr="join", value=ast.Constant()), args=[parts]):
                return self.is_constant(parts)
            case ast.Attribute():
                return node.attr.isupper() or self.is_constant(node.value)
            case ast.Name(id=found):
                return self._name(found)
        return False

    def _comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> bool:
        for generator in generators:
            self._bind(generator)
        return self.is_constant(element)

    def _name(self, found: str) -> bool:
        if found in self._local:
            if found in self._open:  # refers to itself, as in `query = query + " LIMIT ?"`
                return True
            self._open.add(found)
            try:
                return all(self.is_constant(value) for value in self._local[found])
            finally:
                self._open.discard(found)
        if found in self._constants:
            return _Scope(None, self._constants, self._imported).is_constant(self._constants[found])
        return found in self._imported and found.isupper()
