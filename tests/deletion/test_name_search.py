"""Names of who is to be forgotten: what the bot wrote of them goes, and nothing of others'."""

import re
from dataclasses import replace

import pytest

from graph_memory.companion import InnerState, Mood
from graph_memory.deletion import forget_me
from graph_memory.deletion.plan import is_ordinary, pattern
from graph_memory.model import BOT, Entity, Episode, Fact, Mention, Name, Session, User
from graph_memory.store import Journal
from graph_memory.text import normalise

from ..cases import tabled
from ..makers import CLUB, T0, Clock, entity, fact, message, name, private, put, scan, user

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


async def texts(journal: Journal) -> list[str]:
    return [m.text for m in await journal.newest_messages(99)]


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


@pytest.mark.parametrize("line", ["NickZQ4 住在杭州", "听说 NICKZQ4 搬家了", "ＮｉｃｋＺＱ４吗？"])
async def test_where_the_person_was_the_bot_no_longer_names_them(journal: Journal, line: str):
    await say(journal, CLUB, U, "大家好", 0, "NickZQ4")
    first = await say(journal, CLUB, V, "她最近怎么样", 2_000, "小红")
    told = await say(journal, CLUB, BOT, line, 2_001)
    last = await say(journal, CLUB, BOT, "NickZQ42 是别人", 2_002)
    await summed_up(journal, CLUB, V, first.id, last.id, f"小红问起，{line}")
    await forget(journal)
    assert await texts(journal) == ["她最近怎么样", "NickZQ42 是别人"]
    assert told.id not in [m.id for m in await journal.newest_messages(9)]
    (left,) = await scan(journal, Episode)
    assert (left.summary, left.messages, left.participants) == ("小红: 她最近怎么样", 2, (V,))
    assert not await scan(journal, Mood), "whose words it rests on"


async def test_a_conversation_without_the_person_keeps_its_summary(journal: Journal):
    await say(journal, CLUB, U, "大家好", 0, "NickZQ4")
    first = await say(journal, CLUB, V, "她最近怎么样", 2_000, "小红")
    last = await say(journal, CLUB, BOT, "NickZQ4 住在杭州", 2_001)
    await summed_up(journal, CLUB, V, first.id, last.id, "小红问了好")
    await forget(journal)
    (left,) = await scan(journal, Episode)
    assert (left.summary, left.messages) == ("小红问了好", 1)


@pytest.mark.parametrize("why", ["another", "longer", "before", "strangers", "thing", "persona"])
async def test_a_name_that_may_be_somebody_elses_is_not_looked_for(journal: Journal, why: str):
    if why == "before":
        await say(journal, CLUB, V, "韶山冲今天人多吗", -9, "小红")
    if why == "strangers":
        await say(journal, private("3"), W, "我去过韶山冲", -9, "老吴")
    if why == "thing":
        place = entity("韶山冲")
        await put(journal, Entity(place), name(CLUB, place, "韶山冲"))
    club = replace(CLUB, id=f"{CLUB.circle}#韶山冲", persona="韶山冲") if why == "persona" else CLUB
    await say(journal, club, U, "大家好", 0, "韶山冲")
    other = {"another": "韶山冲", "longer": "韶山冲饭店"}.get(why, "小红")
    await say(journal, club, V, "去哪儿吃", 2_000, other)
    await say(journal, club, BOT, "韶山冲不错", 2_001)
    await forget(journal)
    assert "韶山冲不错" in await texts(journal)


async def test_what_friends_told_in_private_goes(journal: Journal):
    """A person in a friend's private chat is no account, but is told of by the name."""
    home = private("2")
    await say(journal, CLUB, U, "大家好", 0, "小优")
    await say(journal, CLUB, V, "你好小优", 1, "小红")
    said = await say(journal, home, V, "小优喜欢考拉", 2, "小红")
    told, hers = person(home, "小优", T0 + 2), person(home, "大刘", T0 + 2)
    liked = fact(home, told[0].id, entity("考拉"), "小优喜欢考拉", speaker=V)
    about = [
        replace(liked, evidence=(said.id,)),
        fact(home, hers[0].id, entity("考拉"), "大刘怕考拉", speaker=V),
        fact(home, V, told[0].id, "小红认识小优", speaker=V),
    ]
    await put(journal, User(V), *told, *hers, *about)
    await forget(journal)
    assert [f.statement for f in await scan(journal, Fact)] == ["大刘怕考拉"]
    assert {n.text for n in await scan(journal, Name)} == {"大刘"}
    assert "小优喜欢考拉" in await texts(journal), "others' own words stay"


@pytest.mark.parametrize("why", ["stranger", "known before", "namesake"])
async def test_what_others_told_of_somebody_else_stays(journal: Journal, why: str):
    home = private("2")
    brother = person(home, "小优", T0 - 50 if why == "known before" else T0 + 2)
    told = fact(home, brother[0].id, entity("考拉"), "小优喜欢考拉", speaker=V)
    await say(journal, CLUB, U, "大家好", 0, "小优")
    if why != "stranger":
        await say(journal, CLUB, V, "你好呀", 1, "小红")
    if why == "namesake":
        await say(journal, CLUB, W, "我也叫这个", 1, "小优")
    await say(journal, home, V, "小优喜欢考拉", 2, "小红")
    await put(journal, User(V), *brother, told)
    await forget(journal)
    assert [f.statement for f in await scan(journal, Fact)] == ["小优喜欢考拉"]
    assert {n.text for n in await scan(journal, Name)} == {"小优"}


def person(where: Session, called: str, at: float) -> tuple[Entity, Name, Mention]:
    node = entity(called, where.circle)
    mention = Mention(f"m:{node}", where.id, node, "person", at, at)
    return Entity(node), name(where, node, called, at), mention


@tabled
def test_whole_names(called: str, text: str, found: bool):
    assert bool(re.search(pattern(normalise(called)), normalise(text))) is found


@tabled
def test_ordinary_words_are_no_names(word: str, ordinary: bool):
    assert is_ordinary(normalise(word)) is ordinary
