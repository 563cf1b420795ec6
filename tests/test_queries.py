"""The check for injected queries finds what it is there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import queries

ACCEPTED = """
FIELDS = "id, text"
def f(db, ids, wanted):
    marks = ",".join("?" * len(ids))
    more = ",".join(["(?, ?)"] * len(ids))
    query = f"SELECT {FIELDS} FROM message WHERE id IN ({marks})" + more
    db.execute(query, ids)
    db.execute("SELECT ? " + ("ORDER BY id" if wanted else ""), ids)
    for key, text in (("a", "SELECT 1"), ("b", "SELECT 2")):
        db.execute(text)
"""
REFUSED = [
    'def f(db, text): db.execute(f"SELECT {text}")',
    "def f(db, text): db.execute(\"SELECT '%s'\" % text)",
    'def f(db, text): db.execute("SELECT {}".format(text))',
    'def f(db, text): db.execute("SELECT " + text)',
    "def f(db, text): db.execute(text)",
    'def f(db, rows):\n    for row in rows: db.execute(f"SELECT {row}")',
    'def f(db, text):\n    query = "SELECT 1"\n    query += text\n    db.execute(query)',
    'def f(db, text):\n    query = "SELECT 1"\n    def g(): db.prepare(query + text)',
    "def f(db, o): db.execute(f\"MATCH (n) WHERE n.id = '{o.id}' RETURN n\")",
    'def f(db, names): db.execute(",".join(n for n in names))',
]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def unsafe(code: str) -> list[str]:
        path = tmp_path / "module.py"
        path.write_text(code, encoding="utf-8")
        monkeypatch.setattr(queries, "name", lambda path: path.name)
        queries.tree.cache_clear()
        return queries.unsafe_queries(path)

    return unsafe


def test_constants_are_accepted(check) -> None:
    assert check(ACCEPTED) == []


@pytest.mark.parametrize("code", REFUSED)
def test_anything_else_is_refused(check, code: str) -> None:
    assert len(check(code)) == 1
