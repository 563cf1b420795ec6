"""Names of who is to be forgotten: what the bot wrote of them goes, and nothing of others'."""

import re
from pathlib import Path

import pytest

from graph_memory.companion import InnerState, Mood
from graph_memory.deletion import forget_me
from graph_memory.deletion.plan import is_ordinary, pattern
from graph_memory.model import BOT, Episode, Session
from graph_memory.store import Journal
from graph_memory.text import normalise

from ..cases import cases, tabled
from ..learning.story import Story
from ..makers import T0, Clock, message, private, put, user

CASES = cases(Path(__file__).with_name("names.txt"))
U, V, W = user("1"), user("2"), user("3")


@pytest.fixture
def clock() -> Clock:
    return Clock(T0 + 900)


async def say(journal: Journal, where: Session, who: str, text: str, at: float, nick: str = ""):
    """A line, and for a person an episode that it begins and a summary tells of."""
    return await journal.append(message(where, who, text, T0 + at, name=nick), where)


async def summed_up(journal: Journal, where: Session, who: str, first: int, last: int, text: str):
    """An episode, an inner state and a mood of a Session."""
    rows = [
        Episode(
            f"ep:{where.id}", where.id, T0, T0 + 9, first, last, 1 + last - first, text, (who,)
        ),
        InnerState(f"in:{where.id}", where.id, "我在想", "听着呢", "近了", 1, T0),
        Mood(f"mo:{where.id}", where.id, 0.3, 0.1, T0),
    ]
    await put(journal, *rows)


async def forget(journal: Journal, who: str = U) -> None:
    await journal.in_slices(lambda db, tell: forget_me.erase(db, who, T0 + 800, tell))


@pytest.mark.parametrize("nick", ["今天", "Al", "你好", "AI", "li", "an", "小明", "mei", "记住"])
async def test_a_nickname_takes_nothing_from_strangers(journal: Journal, nick: str):
    line = f"好的，今天我会记住你说的话，小明。Also, Al and Li: an AI says 你好, mei!{nick}"
    for number, who in ((2, V), (3, W)):
        home = private(str(number))
        said = await say(journal, home, who, "我喜欢爬山", number, "路人")
        told = await say(journal, home, BOT, line, number + 0.5)
        await summed_up(journal, home, who, said.id, told.id, f"聊了爬山和{nick}")
    kept = await everything(journal)
    await say(journal, private("1"), U, "你好呀", 1, nick)
    await forget(journal)
    assert await everything(journal) == kept


async def everything(journal: Journal) -> list[tuple[object, ...]]:
    def read(db):  # type: ignore[no-untyped-def]
        found = db.execute("SELECT * FROM message ORDER BY id").fetchall()
        found += db.execute("SELECT * FROM row ORDER BY kind, id").fetchall()
        found += db.execute("SELECT * FROM presence ORDER BY circle, user").fetchall()
        return found + db.execute("SELECT * FROM change WHERE ops != '[]'").fetchall()

    return await journal.look(read)


@pytest.mark.parametrize("name", CASES)
async def test_whose_words_go_with_a_name(journal: Journal, name: str):
    await Story(journal).play(CASES[name])


@tabled
def test_whole_names(called: str, text: str, found: bool):
    assert bool(re.search(pattern(normalise(called)), normalise(text))) is found


@tabled
def test_ordinary_words_are_no_names(word: str, ordinary: bool):
    assert is_ordinary(normalise(word)) is ordinary
