"""The check for injected queries finds what it is there for."""

from pathlib import Path

import pytest

from tests import queries
from tests.cases import tabled

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


def found(code: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    path.write_text(code, encoding="utf-8")
    monkeypatch.setattr(queries, "name", lambda path: path.name)
    return queries.formatted(path)


def test_constants_are_accepted(tmp_path, monkeypatch) -> None:
    assert found(ACCEPTED, tmp_path / "module.py", monkeypatch) == set()


@tabled
def test_anything_else_is_refused(tmp_path, monkeypatch, code: str) -> None:
    assert "text" in found(code, tmp_path / "module.py", monkeypatch)
