"""Queries go by an index, however many rows there are, and nothing names one for them."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.maintenance.summaries import history
from graph_memory.model import Episode, Fact, Mention, Name
from graph_memory.store import Draft, Rows, messages, queries
from graph_memory.store.queries import FactFilter
from graph_memory.store.rows import write
from graph_memory.store.schema import SCALARS as FIELDS
from graph_memory.store.schema import migrate, open_tables
from tests.sources import runtime_modules

from ..makers import T0, ZHANG, entity, fact, name, private

HERE = private("zhang").id
ALL = {"SEARCH row USING PRIMARY KEY (kind=?)", "SCAN f"}
"""Every row of a kind is read, or what facts are listed by."""


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


@pytest.mark.parametrize("run", [
    lambda db: Rows(db).find(Fact, a=ZHANG),
    lambda db: Rows(db).find(Fact, a=ZHANG, b=entity("山")),
    lambda db: Rows(db).find(Fact, session=HERE), lambda db: Rows(db).find(Name, a=ZHANG, newest=5),
    lambda db: Rows(db).find(Mention, session=HERE, a=entity("山")),
    lambda db: Rows(db).history(ZHANG, "likes"), lambda db: Rows(db).episode(HERE),
    lambda db: Rows(db).episodes_of(HERE, [3, 4]),
    lambda db: queries.newest_episodes(db, HERE, 10, bool, told=True),
    lambda db: queries.visits(db, HERE, T0), lambda db: queries.replaced(db, ["f1"]),
    lambda db: Rows(db).replacing("f1"), lambda db: queries.superseded_before(db, T0, 10),
    lambda db: queries.search_messages(db, HERE, [], queries.Search(["山"])),
    lambda db: queries.versions(db, Episode.kind, "e1", 3),
])  # fmt: skip
def test_no_query_reads_every_row_of_a_kind(db, run) -> None:
    found = plan(db, lambda: run(db))
    assert found
    assert ALL.isdisjoint(found.splitlines())


def test_the_facts_about_somebody_are_found_by_both_their_keys(db) -> None:
    found = plan(db, lambda: queries.find_facts(db, FactFilter(node=ZHANG), T0))
    assert "INDEX fact_subject (subject=?)" in found
    assert "INDEX fact_object (object=?)" in found


def test_who_has_ten_thousand_books_is_not_compared_with_themselves(db) -> None:
    found = plan(db, lambda: queries.conflicts(db, T0, 10))
    assert "INDEX (same=? AND predicate=? AND subject=?)" in found


@pytest.mark.parametrize(("index", "run"), [
    ("row_ended", lambda db: queries.newest_episodes(db, HERE, 10, bool, told=True)),
    ("row_ended", lambda db: queries.visits(db, HERE, T0)),
    ("message_pending", lambda db: messages.pending(db, HERE)),
    ("message_pending", lambda db: history(db, HERE)),
    ("message_quoted", lambda db: messages.by_platform_id(db, "qq:group:1", "7")),
])  # fmt: skip
def test_what_is_newest_in_a_chat_is_not_looked_for_in_all_of_it(db, index, run) -> None:
    found = plan(db, lambda: run(db))
    assert f"INDEX {index} " in found
    assert "message_session" not in found


@pytest.mark.parametrize("run", [
    lambda db, shows: queries.newest_episodes(db, HERE, 1, shows),
    lambda db, shows: [found] if (found := Rows(db).episode(HERE, shows=shows)) else [],
])  # fmt: skip
def test_who_sees_none_of_the_last_conversations_is_no_more_work(db, run) -> None:
    """Who left a group of ten thousand conversations waits no minute, and nobody with them."""
    told = [Episode(f"ep:{n}", HERE, T0 + n, T0 + n, n, n, 1) for n in range(1, 9)]
    write(db, Draft("learn", "learned", told), T0)
    for seen in (told, told[3:5], told[:1], []):
        asked: list[str] = []
        db.set_trace_callback(asked.append)
        assert run(db, lambda each: each in seen) == seen[-1:]  # noqa: B023
        db.set_trace_callback(None)
        assert len(asked) == 1


def test_no_query_names_an_index() -> None:
    named = [path for path in runtime_modules() if "INDEXED BY" in path.read_text("utf-8")]
    assert not named, "the planner knows what a large memory looks like, see migration 0007"


def test_the_check_sees_a_query_that_reads_all(db) -> None:
    assert "SCAN f" in plan(db, lambda: queries.predicates(db)).splitlines()
    assert not ALL.isdisjoint(plan(db, lambda: Rows(db).find(Name)).splitlines())


def test_facts_are_listed_by_what_they_say(db) -> None:
    """Whatever is done to a row: put, put again, rewritten, deleted."""
    said = fact(private("zhang"), ZHANG, entity("山"), "张三喜欢爬山", evidence=(4, 5))
    later = replace(said, id="f:2", hearsay=True, pinned=True, evidence=(), use_count=7)

    def put(each: Fact) -> None:
        write(db, Draft("learn", "learned", [each]), T0)

    def listed() -> dict[str, list[object]]:
        found = db.execute(
            f"SELECT id, subject, object, cited, {', '.join(FIELDS)} FROM fact_field"
        )
        return {id: [*rest] for id, *rest in found}

    def told(*facts: Fact) -> dict[str, list[object]]:
        return {
            each.id: [
                *(each.subject, each.object, len(each.evidence)),
                *(getattr(each, name) for name in FIELDS),
            ]
            for each in facts
        }

    put(said)
    put(later)
    assert listed() == told(said, later)
    put(changed := replace(said, predicate="plans", status="archived", archived_at=T0))
    assert listed() == told(changed, later)
    db.execute("UPDATE row SET data = json_set(data, '$.speaker', 'qq:1') WHERE id = 'f:2'")
    assert listed() == told(changed, replace(later, speaker="qq:1"))
    write(db, Draft("owner", "forget", drop=[("fact", said.id), ("fact", "f:2")]), T0)
    assert listed() == {}


def test_a_field_of_a_row_is_a_column(db) -> None:
    columns = [column[0] for column in db.execute("SELECT * FROM fact").description]
    assert {"id", "session", "subject", "object", "supersedes", "data", "change"} <= {*columns}


@pytest.mark.parametrize("more", [{}, {"given": True}, {"last_at": T0 + 1}])
def test_a_list_calls_a_thing_what_the_rest_does(db, more) -> None:
    node = entity("豆豆")
    names = [name(private("zhang"), node, text) for text in ("豆豆", "小豆豆", "豆子", "阿豆")]
    names[1] = replace(names[1], **more)
    write(db, Draft("learn", "learned", names), T0)
    assert Rows(db).called(node) == max(names, key=lambda each: each.order).text
