"""References to lines that were shown."""

import pytest

from graph_memory import references
from graph_memory.references import Reference, References

from .makers import li_in_club, zhang, zhang_in_club


def line(id: str) -> Reference:
    return Reference("fact", id, f"关于{id}")


def test_an_id_is_short_stable_and_ones_own() -> None:
    known = References()
    short = known.cite(zhang, line("f:1"))
    assert len(short) == len("m:1a2b")
    assert known.cite(zhang, line("f:1")) == short
    for written in (
        short, short.upper(), f"[{short}]", f"【{short[2:]}】", short.replace(":", "："),
    ):  # fmt: skip
        assert known.cited(zhang, written) == line("f:1")
    assert known.cited(zhang_in_club, short) is None
    assert known.cited(li_in_club, short) is None
    assert known.cited(zhang, "m:") is None
    assert known.cited(zhang, "f:1") is None


def test_two_things_never_have_one_id() -> None:
    known = References()
    many = [line(f"f:{number}") for number in range(references.MAX_CITED)]
    ids = [known.cite(zhang, each) for each in many]
    assert [known.cited(zhang, id) for id in ids] == many
    assert Reference("fact", "7", "") != Reference("message", "7", "")
    assert known.cite(zhang, Reference("fact", "7", "")) != known.cite(
        zhang, Reference("message", "7", "")
    )


def test_after_a_restart_a_line_has_the_same_id_once_it_is_shown_again() -> None:
    before, after = References(), References()
    before.cite(zhang, line("f:2"))
    short = before.cite(zhang, line("f:1"))
    assert after.cited(zhang, short) is None
    assert after.cite(zhang, line("f:1")) == short
    assert after.cited(zhang, short) == line("f:1")


def test_ids_that_would_be_alike_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "SHORTEST", 1)
    known = References()
    many = [line(f"f:{number}") for number in range(40)]
    ids = [known.cite(zhang, each) for each in many]
    assert len(set(ids)) == len(many)
    assert [known.cited(zhang, id) for id in ids] == many


def test_what_is_long_ago_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MAX_CITED", 2)
    monkeypatch.setattr(references, "MAX_PLACES", 2)
    known = References()
    first, *rest = [known.cite(zhang, line(f"f:{number}")) for number in range(3)]
    assert known.cited(zhang, first) is None
    assert all(known.cited(zhang, id) for id in rest)
    known.number(zhang_in_club, [line("f:1")])
    known.number(li_in_club, [line("f:2")])
    assert known.cited(zhang, rest[0]) is None
    assert known.numbered(zhang_in_club, 1) == line("f:1")
    assert known.numbered(zhang_in_club, 2) is None
    assert known.numbered(zhang_in_club, 0) is None


def test_what_is_gone_keeps_its_number_and_loses_its_words() -> None:
    known = References()
    known.number(zhang, [line("f:1"), line("f:2")])
    short = known.cite(li_in_club, line("f:1"))
    known.empty(lambda line: (line.kind, line.id) == ("fact", "f:1"))
    assert known.numbered(zhang, 1) == Reference("fact", "f:1", "")
    assert known.numbered(zhang, 2) == line("f:2")
    assert known.cited(li_in_club, short) == Reference("fact", "f:1", "")
