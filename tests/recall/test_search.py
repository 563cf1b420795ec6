"""Looking up people and times among more memories than can be looked at one by one."""

import pytest

from graph_memory.model import Message, Row, asker_of
from graph_memory.recall import Index, PersonalIndex, search
from graph_memory.retention import DAY
from graph_memory.text import told_apart
from tests.makers import T0, entity, fact, group, name, user

from .histories import rendering

ROOM = group("9")
LI, WANG = user("li"), user("wang")


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> PersonalIndex:
    """What 小李 sees of a group in which 小王 said little, long ago."""
    monkeypatch.setattr(search, "MOST_LOOKED_AT", 5)
    index, asker = Index(), asker_of(ROOM, LI)
    rows: list[Row] = [ROOM, name(ROOM, WANG, "小王")]
    rows += [
        fact(ROOM, LI, entity(f"书{n}"), f"小李读了书{n}", at=T0 + n * DAY, recorded_at=T0)
        for n in range(100, 110)
    ]
    for row in rows:
        index.put(row)
    index.put_message(Message(1, ROOM.id, WANG, "小王", "我养了一只柯基", T0))
    for n in range(2, 12):
        index.put_message(Message(n, ROOM.id, LI, "小李", f"第{n}次说起读书", T0 + n * DAY))
    return PersonalIndex(rendering(index, ROOM, asker, now=T0 + 200 * DAY)[0])


def test_an_old_time_is_looked_up_however_much_came_later(mine: PersonalIndex) -> None:
    found = mine.excerpt((), "", spans=[(T0 - 60, T0 + 60)])
    assert [item.id for item in found.items] == ["1"]


def test_who_spoke_long_ago_is_found_however_much_came_later(mine: PersonalIndex) -> None:
    assert [item.id for item in mine.excerpt((), "", "小王").items] == ["1"]


@pytest.mark.parametrize("account", ["00FFA1B2", "wxid_ab-12", "20054321"])
def test_the_mark_of_an_account_says_which_namesake_is_meant(account: str) -> None:
    index, asker = Index(), asker_of(ROOM, LI)
    one, other = user(account), user("another")
    for row in (ROOM, name(ROOM, one, "小王"), name(ROOM, other, "小王")):
        index.put(row)
    sight = rendering(index, ROOM, asker)[0].visible
    assert search.called(index, sight, asker, "小王") == {one, other}
    assert search.called(index, sight, asker, told_apart("小王", one, [other])) == {one}


@pytest.mark.parametrize("called", ["鱼", "K", "小赵"])
def test_whoever_speaks_is_known_by_a_short_name_and_before_anything_is_learned(called: str):
    index, asker = Index(), asker_of(ROOM, LI)
    index.put(ROOM)
    index.put_message(Message(1, ROOM.id, WANG, called, "我养了一只柯基", T0))
    index.put_message(Message(2, ROOM.id, user("?"), "", "我养了一只布偶", T0))
    mine = PersonalIndex(rendering(index, ROOM, asker)[0])
    assert [item.id for item in mine.excerpt((), "", called).items] == ["1"]
    assert not mine.excerpt((), "", "小孙").is_known
    assert not mine.excerpt((), "", "管理员").is_known  # whom nobody is called
