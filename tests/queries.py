"""Finding queries into which anything but a constant is formatted.

Chat text must reach SQLite and Kùzu as parameters only.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

from tests.sources import name, tree

WORDS = re.compile(
    r"\b(SELECT|FROM|WHERE|AND|OR|IN|JOIN|INSERT|UPDATE|DELETE|ORDER BY|LIMIT|VALUES|SET|UNION"
    r"|MATCH|RETURN|COPY|CREATE|PRAGMA)\b"
)
"""What queries are made of."""
RUNNERS = frozenset({"execute", "executemany", "executescript", "prepare"})
"""Methods whose first argument is a query; in ``graph/`` also ``run``."""
SELECT = "select_messages"
"""A function of ``store/rows.py`` whose second argument is the rest of a query."""
REVIEWED = {
    "graph_memory/deletion/plan.py": "took_part",
    "graph_memory/graph/database.py": "found made n name of options parts path source table target",
    "graph_memory/store/contents.py": "part query",
    "graph_memory/store/journal.py": "query",
    "graph_memory/store/messages.py": "part query",
    "graph_memory/store/postgres.py": "after query sql",
    "graph_memory/store/presence.py": "query",
    # Names of tables and columns are those of this file's own schema, whatever a server says.
    "graph_memory/store/replica.py": (
        "columns event key marks name names self table values when where"
    ),
    "graph_memory/store/queries.py": "conditions joined key like named order parts people"
    " query side source values wanted where",
    "graph_memory/store/rows.py": "key order query rest where",
    "graph_memory/store/schema.py": "cls columns fields whole",
    "graph_memory/transfer/import_runs.py": "marks nodes",
    "graph_memory/transfer/sources/__init__.py": "query",
}
"""Names in a module that hold constants only: names of the schema, marks (``?, ?``), parts of
queries that are written in the module."""


def formatted(path: Path) -> set[str]:
    """Names that are formatted into a query, or run as one, and that are no constants."""
    runners = RUNNERS | ({"run"} if "/graph/" in name(path) else set())
    return {
        part.id
        for node in ast.walk(tree(path))
        for whole in _made(node, runners)
        for part in ast.walk(whole)
        if isinstance(part, ast.Name) and part.id.islower() and part.id not in vars(builtins)
    }


def _made(node: ast.AST, runners: frozenset[str]) -> Iterator[ast.AST]:
    """What is put together to be a query, and parameters that are run as one."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            given = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            for call in ast.walk(node):
                query = _query(call, runners) if isinstance(call, ast.Call) else None
                if isinstance(query, ast.Name) and query.id in given:
                    yield query
        case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()) if _has_words(node):
            yield node
        case ast.AugAssign(target=ast.Name("query")):
            yield node.value
        case ast.Call(func=ast.Attribute(attr="format" | "join")) if _has_words(node.func):
            yield from node.args


def _query(call: ast.Call, runners: frozenset[str]) -> ast.expr | None:
    match call:
        case ast.Call(ast.Attribute(attr=attr), [query, *_]) if attr in runners:
            return query
        case ast.Call(ast.Name(id), [_, query, *_]) if id == SELECT:
            return query
    return None


def _has_words(node: ast.AST) -> bool:
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return any(isinstance(text, str) and WORDS.search(text) for text in texts)
