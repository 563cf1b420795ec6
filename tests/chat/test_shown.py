"""What was shown to whom."""

from __future__ import annotations

import pytest

from graph_memory.chat import shown
from graph_memory.chat.caller import Caller
from graph_memory.chat.shown import Memory, Shown

from ..makers import group, private, user

HOME, CLUB = private("zhang"), group("1")
zhang, zhang_in_club = Caller(HOME, user("zhang"), "张三"), Caller(CLUB, user("zhang"), "张三")
li_in_club = Caller(CLUB, user("li"), "李四")


def line(id: str) -> Memory:
    return Memory("fact", id, f"关于{id}")


def test_an_id_is_short_stable_and_ones_own() -> None:
    known = Shown()
    short = known.cite(zhang, line("f:1"))
    assert len(short) == len("m:1a2b")
    assert known.cite(zhang, line("f:1")) == short
    for written in (
        short,
        short.upper(),
        f"[{short}]",
        f"【{short[2:]}】",
        short.replace(":", "："),
    ):
        assert known.cited(zhang, written) == line("f:1")
    assert known.cited(zhang_in_club, short) is None
    assert known.cited(li_in_club, short) is None
    assert known.cited(zhang, "m:") is None
    assert known.cited(zhang, "f:1") is None


def test_two_things_never_have_one_id() -> None:
    known = Shown()
    many = [line(f"f:{number}") for number in range(shown.MAX_CITED)]
    ids = [known.cite(zhang, each) for each in many]
    assert [known.cited(zhang, id) for id in ids] == many
    assert Memory("fact", "7", "") != Memory("message", "7", "")
    assert known.cite(zhang, Memory("fact", "7", "")) != known.cite(
        zhang, Memory("message", "7", "")
    )


def test_after_a_restart_a_line_has_the_same_id_once_it_is_shown_again() -> None:
    before, after = Shown(), Shown()
    before.cite(zhang, line("f:2"))
    short = before.cite(zhang, line("f:1"))
    assert after.cited(zhang, short) is None
    assert after.cite(zhang, line("f:1")) == short
    assert after.cited(zhang, short) == line("f:1")


def test_ids_that_would_be_alike_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "SHORTEST", 1)
    known = Shown()
    many = [line(f"f:{number}") for number in range(40)]
    ids = [known.cite(zhang, each) for each in many]
    assert len(set(ids)) == len(many)
    assert [known.cited(zhang, id) for id in ids] == many


def test_what_is_long_ago_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "MAX_CITED", 2)
    monkeypatch.setattr(shown, "MAX_PLACES", 2)
    known = Shown()
    first, *rest = [known.cite(zhang, line(f"f:{number}")) for number in range(3)]
    assert known.cited(zhang, first) is None
    assert all(known.cited(zhang, id) for id in rest)
    known.number(zhang_in_club, [line("f:1")])
    known.number(li_in_club, [line("f:2")])
    assert known.cited(zhang, rest[0]) is None
    assert known.numbered(zhang_in_club, 1) == line("f:1")
    assert known.numbered(zhang_in_club, 2) is None
    assert known.numbered(zhang_in_club, 0) is None
