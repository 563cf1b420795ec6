"""The check for injected queries finds what it is there for."""

from pathlib import Path

import pytest

from tests import queries

ACCEPTED = """
FIELDS = "id, text"
def f(db, ids, wanted):
    more = ",".join(["(?, ?)"] * len(ids))
    query = f"SELECT {FIELDS} FROM message WHERE id IN (" + ",".join("?" * 3) + ")"
    db.execute(query, ids)
    db.execute("SELECT ? " + ("ORDER BY id" if True else ""), ids)
    for key, text in (("a", "SELECT 1"), ("b", "SELECT 2")):
        db.execute(text)
    select_messages(db, "WHERE id = ?", ids)
"""
REFUSED = [
    'def f(db, text): db.execute(f"SELECT {text}")',
    "def f(db, text): db.execute(\"SELECT '%s'\" % text)",
    'def f(db, text): db.execute("SELECT {}".format(text))',
    'def f(db, text): db.execute("SELECT " + text)',
    "def f(db, text): db.execute(text)",
    'def f(db, rows):\n    for text in rows: db.execute(f"SELECT {text}")',
    'def f(db, text):\n    query = "SELECT 1"\n    query += text\n    db.execute(query)',
    'def f(db, text):\n    def g(): db.prepare("SELECT 1" + text)',
    "def f(db, text): db.execute(f\"MATCH (n) WHERE n.id = '{text.id}' RETURN n\")",
    'def f(db, text): db.execute(" AND ".join(n for n in text))',
    'def f(db, text): select_messages(db, f"WHERE text = {text}")',
]


def found(code: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    path.write_text(code, encoding="utf-8")
    monkeypatch.setattr(queries, "name", lambda path: path.name)
    queries.tree.cache_clear()
    return queries.formatted(path)


def test_constants_are_accepted(tmp_path, monkeypatch) -> None:
    assert found(ACCEPTED, tmp_path / "module.py", monkeypatch) == set()


@pytest.mark.parametrize("code", REFUSED)
def test_anything_else_is_refused(code: str, tmp_path, monkeypatch) -> None:
    assert "text" in found(code, tmp_path / "module.py", monkeypatch)
