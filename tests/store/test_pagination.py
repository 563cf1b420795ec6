"""Turning pages: forwards and backwards lead through the same rows, each once."""

import itertools
import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.store.queries import Cursor, Page, paginate

SOURCE = "SELECT key, id FROM item"
Items = st.dictionaries(
    st.text("abc", min_size=1, max_size=3), st.integers(-2, 2).map(float), max_size=12
)


def filled(items: dict[str, float]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE item (id TEXT PRIMARY KEY, key REAL)")
    db.executemany("INSERT INTO item VALUES (?, ?)", items.items())
    return db


def page(db: sqlite3.Connection, place: Cursor | None, size: int) -> Page[str]:
    return paginate(db, SOURCE, {}, place, size, lambda row: row.id)


@given(Items, st.integers(1, 5))
def test_pages_lead_there_and_back_again(items: dict[str, float], size: int) -> None:
    db = filled(items)
    expected = [name for name, _ in sorted(items.items(), key=lambda item: (-item[1], item[0]))]
    pages = [page(db, None, size)]
    while pages[-1].next:
        pages.append(page(db, pages[-1].next, size))
    assert [item for one in pages for item in one.items] == expected
    assert all(one.total == len(items) for one in pages)
    assert [one.first for one in pages] == [1 + size * n for n in range(len(pages))]
    assert pages[0].previous is None
    for earlier, later in itertools.pairwise(pages):
        assert later.previous is not None
        back = page(db, later.previous, size)
        assert (back.items, back.first) == (earlier.items, earlier.first)
        assert back.next is not None
        assert page(db, back.next, size).items == later.items
    db.close()


@given(Items, st.data())
def test_what_comes_and_goes_moves_no_page(items: dict[str, float], data: st.DataObject) -> None:
    db = filled(items)
    first = page(db, None, 3)
    rest = page(db, first.next, 100).items if first.next else []
    if first.items:
        db.execute("DELETE FROM item WHERE id = ?", (data.draw(st.sampled_from(first.items)),))
    db.execute("INSERT INTO item VALUES ('zzzz', 9.0)")
    if first.next:
        assert page(db, first.next, 100).items == rest
    db.close()


def test_nothing_is_a_page_too() -> None:
    db = filled({})
    assert page(db, None, 3) == Page([], 1, 0)
    assert page(db, Cursor(1.0, "a"), 3) == Page([], 1, 0)
    db.close()


@given(Items, st.floats(-3, 3), st.text("abc", max_size=2), st.booleans())
def test_no_place_leads_past_either_end(items, key, id, is_before):
    db = filled(items)
    found = page(db, Cursor(key, id, is_before), 3)
    last = found.first + len(found.items) - 1
    assert found.items or not items
    assert (found.previous is None) == (found.first == 1)
    assert (found.next is None) == (last == len(items))
    db.close()
