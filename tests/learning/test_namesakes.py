"""A name that two accounts of a chat window share stands for neither of them."""

import pytest

from graph_memory.model import Addressee, Fact, Quote, is_entity, stable_id
from graph_memory.retention import DAY
from graph_memory.store import Journal
from graph_memory.text import normalise

from ..makers import T0, group, user
from ..scripted import answer, said, thing
from .chat import Chat

REAL, CLONE, WITNESS = user("701"), user("702"), user("703")
ROOM = group("7901")
NOBODY = stable_id("e", ROOM.circle, normalise("赵云飞"))
"""Somebody of that name who does not chat."""


@pytest.fixture
async def room(journal: Journal) -> Chat:
    """赵云飞 has spoken in a group."""
    chat = Chat(journal, ROOM)
    await chat.told("我是赵云飞，群主", account="701", name="赵云飞")
    return chat


async def subject(room: Chat, reference: str, *, evidence: int | str = 2, **more) -> str:
    """Whom a fact is about that the model tells of ``reference``."""
    fact = said(reference, "likes", "榴莲", "赵云飞最喜欢榴莲", evidence)
    await room.learn(answer(fact, **more))
    (found,) = await room.rows(Fact)
    return found.subject


@pytest.mark.parametrize("clone", ["赵云飞", "赵云飞\u200d", "赵\U000e0041云飞", " 赵云飞\ufe0f"])
@pytest.mark.parametrize("reference", ["U1", "赵云飞", "E1"])
async def test_who_is_present_is_not_meant_by_a_shared_name(room, reference, clone):
    await room.say("702", "路过打个招呼", clone)
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    more = {"entities": [thing("E1", "赵云飞", "person")]} if reference == "E1" else {}
    assert await subject(room, reference, **more) == NOBODY


async def test_the_label_of_a_namesake_is_their_own_only_in_their_own_words(room: Chat) -> None:
    await room.say("702", "我最喜欢榴莲", "赵云飞")
    await room.say("703", "原来如此", "小周")
    assert await subject(room, "U1", evidence=1) == CLONE


async def test_what_a_namesake_says_beside_others_is_theirs(room: Chat) -> None:
    await room.say("703", "你最喜欢什么水果？", "小周")
    await room.say("702", "我最喜欢榴莲", "赵云飞")
    assert await subject(room, "U2", evidence="1,2") == CLONE
    (found,) = await room.rows(Fact)
    assert found.speaker == CLONE


@pytest.mark.parametrize("reference", ["U1", "赵云飞"])
async def test_other_words_of_theirs_prove_nothing(room: Chat, reference: str) -> None:
    await room.say("702", "我是赵云飞，路过打个招呼", "赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, reference, evidence="1,2") == NOBODY


@pytest.mark.parametrize("reference", ["U2", "赵云飞"])
async def test_an_account_that_is_mentioned_is_meant(room: Chat, reference: str) -> None:
    await room.told("路过打个招呼", account="702", name="赵云飞")
    await room.say("703", "@赵云飞 最喜欢榴莲了", "小周", to=(Addressee(CLONE, "赵云飞"),))
    assert await subject(room, reference, evidence=1) == CLONE


async def test_an_account_that_is_quoted_is_meant(room: Chat) -> None:
    await room.say("702", "路过打个招呼", "赵云飞", ref="1@9")
    quote = Quote(CLONE, "赵云飞", "1", "路过打个招呼")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周", quote=quote)
    assert await subject(room, "U1") == CLONE


async def test_what_another_message_mentions_is_nothing_to_this_one(room: Chat) -> None:
    await room.say("704", "@赵云飞 早", "老王", to=(Addressee(CLONE, "赵云飞"),))
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, "赵云飞") == NOBODY


async def test_a_shared_name_introduces_nobody_to_the_model(room: Chat) -> None:
    await room.told("路过打个招呼", account="702", name="赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    known = await room.show()
    assert [person.node for person in known.people.values()] == [WITNESS]


@pytest.mark.parametrize("sign", ["的妈妈", "的老板"])
async def test_relatives_of_a_shared_name_are_nobodys(room: Chat, sign: str) -> None:
    await room.told(
        "我妈妈和我老板都来了",
        said("妈妈", "did", "来", "赵云飞的妈妈来了", 1),
        said("老板", "did", "来", "赵云飞的老板来了", 1),
        account="702",
        name="赵云飞",
    )
    own = {fact.subject for fact in await room.rows(Fact)}
    await room.say("702", "路过", "赵云飞")
    await room.told(
        f"赵云飞{sign}爱打牌",
        said(f"赵云飞{sign}", "likes", "打牌", f"赵云飞{sign}爱打牌", 2),
        account="703",
        name="小周",
    )
    told = (await room.facts())[f"赵云飞{sign}爱打牌"].subject
    assert is_entity(told)
    assert told not in own


@pytest.mark.parametrize(
    ("days", "is_shared"), [(1, True), (364, True), (366, False)], ids=["now", "within", "after"]
)
async def test_a_name_that_was_given_up_is_shared_for_a_year(room, days, is_shared):
    await room.told("我改名了", account="701", name="云游四海")
    room.at = T0 + days * DAY
    await room.say("702", "路过打个招呼", "赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, "赵云飞") == (NOBODY if is_shared else CLONE)


async def test_who_is_silent_for_years_still_bears_the_name(room: Chat) -> None:
    room.at = T0 + 800 * DAY
    await room.say("702", "路过打个招呼", "赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, "U1") == NOBODY


async def test_who_spoke_to_another_persona_bears_the_name_too(room: Chat) -> None:
    other = Chat(room.journal, group("7901", "ruo"), room.context.attendance)
    await other.told("路过打个招呼", account="702", name="赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, "赵云飞", evidence=1) == NOBODY


async def test_who_bears_it_elsewhere_is_a_stranger(room: Chat) -> None:
    other = Chat(room.journal, group("8"), room.context.attendance)
    await other.told("路过打个招呼", account="702", name="赵云飞")
    await room.say("703", "赵云飞最喜欢榴莲了", "小周")
    assert await subject(room, "赵云飞", evidence=1) == REAL


async def test_somebody_who_cannot_be_named_is_somebody_in_statements(room: Chat) -> None:
    await room.told(
        "我喜欢榴莲",
        said("U1", "likes", "榴莲", "U1喜欢榴莲", 1),
        account="702",
        name="\u3164\u200b",
    )
    assert (await room.facts())["有人喜欢榴莲"].subject == CLONE
