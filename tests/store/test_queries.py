"""Queries go by an index, however many rows there are, and nothing names one for them."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_memory.model import Episode, Fact, Mention, Name
from graph_memory.store import Rows, queries
from graph_memory.store.queries import FactFilter
from graph_memory.store.schema import migrate, open_tables
from tests.sources import runtime_modules

from ..makers import T0, entity, private, user

ZHANG = user("zhang")
HERE = private("zhang").id
ALL = "SEARCH row USING PRIMARY KEY (kind=?)"
"""Every row of a kind is read."""


@pytest.fixture
def db(tmp_path: Path):
    made = sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)
    migrate(made, tmp_path / "journal.sqlite3")
    open_tables(made)
    yield made
    made.close()


def plan(db: sqlite3.Connection, run: Callable[[], object]) -> str:
    """How SQLite goes about all that a query runs."""
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    run()
    db.set_trace_callback(None)
    queried = [text.replace("Inf", "9e999") for text in asked if "FROM" in text]
    steps = (db.execute(f"EXPLAIN QUERY PLAN {text}") for text in queried)
    return "\n".join(row[3] for found in steps for row in found)


@pytest.mark.parametrize(
    "run",
    [
        lambda db: Rows(db).find(Fact, a=ZHANG),
        lambda db: Rows(db).find(Fact, a=ZHANG, b=entity("山")),
        lambda db: Rows(db).find(Fact, session=HERE),
        lambda db: Rows(db).find(Name, a=ZHANG, newest=5),
        lambda db: Rows(db).find(Mention, session=HERE, a=entity("山")),
        lambda db: Rows(db).history(ZHANG, "likes"),
        lambda db: Rows(db).episode(HERE),
        lambda db: Rows(db).episodes_of(HERE, [3, 4]),
        lambda db: queries.newest_episodes(db, HERE, 10, told=True),
        lambda db: queries.visits(db, HERE, T0),
        lambda db: queries.replaced(db, ["f1"]),
        lambda db: Rows(db).replacing("f1"),
        lambda db: queries.superseded_before(db, T0, 10),
        lambda db: queries.search_messages(db, HERE, [], queries.Search(["山"])),
        lambda db: queries.versions(db, Episode.kind, "e1", 3),
    ],
)
def test_no_query_reads_every_row_of_a_kind(db, run) -> None:
    found = plan(db, lambda: run(db))
    assert found
    assert ALL not in found.splitlines()


def test_the_facts_about_somebody_are_found_by_both_their_keys(db) -> None:
    found = plan(db, lambda: queries.find_facts(db, FactFilter(node=ZHANG), T0))
    assert "INDEX row_a (kind=? AND a=?)" in found
    assert "INDEX row_b (kind=? AND b=?)" in found


def test_no_query_names_an_index() -> None:
    named = [path for path in runtime_modules() if "INDEXED BY" in path.read_text("utf-8")]
    assert not named, "the planner knows what a large memory looks like, see migration 0007"


def test_the_check_sees_a_query_that_reads_all(db) -> None:
    assert ALL in plan(db, lambda: queries.predicates(db)).splitlines()


def test_a_field_of_a_row_is_a_column(db) -> None:
    columns = [column[0] for column in db.execute("SELECT * FROM fact").description]
    assert {"id", "session", "subject", "object", "supersedes", "data", "change"} <= {*columns}
