"""What is told again is kept once, and what only looks like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.learning.dedup import gist, same_value
from graph_memory.learning.prompt import ranked
from graph_memory.model import PREDICATES, Fact
from graph_memory.store import Journal

from ..makers import T0, fact, group, private, user
from ..scripted import answer, said, thing
from .chat import Chat


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("周晓喜欢跑步", "张三的同事喜欢跑步。", {"周晓", "张三的同事"}),
        ("阿周 喜欢跑步！", "周晓 喜欢跑步", {"周晓", "阿周"}),
        ("Zhou likes tea", "zhou xiao likes tea.", {"zhou", "zhou xiao"}),
        ("王五住在北京", "王五住在北京。", set()),
    ],
)
def test_a_sentence_is_the_same_by_whichever_name(one: str, other: str, names: set[str]) -> None:
    assert gist(one, names) == gist(other, names)


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("同事喜欢跑步", "同事们喜欢跑步", {"同事"}),
        ("周晓喜欢跑步", "周晓喜欢散步", {"周晓"}),
        ("周晓喜欢跑步", "李四喜欢跑步", {"周晓"}),
        ("Ann likes tea", "Anna likes tea", {"ann"}),
        ("周会开到很晚", "晓会开到很晚", {"周", "晓"}),
        ("他会用C", "他会用C++", set()),
    ],
)
def test_other_sentences_stay_others(one: str, other: str, names: set[str]) -> None:
    assert gist(one, names) != gist(other, names)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("age", "31岁", "31"),
        ("age", "三十一岁", "31"),
        ("age", "十岁", "10"),
        ("birthday", "3月5号", "3月5日"),
        ("birthday", "三月五日", "03-05"),
        ("birthday", "May 3rd", "5月3日"),
        ("birthday", "1990年5月3日", "1990-05-03"),
        ("lives_in", "杭州", "浙江省杭州市"),
        ("lives_in", "北京", "北京市"),
        ("from", "浙江", "浙江杭州"),
    ],
)
def test_one_value_written_in_two_ways(predicate: str, new: str, old: str) -> None:
    assert same_value(predicate, new, old)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("age", "31", "32"),
        ("age", "30多岁", "30"),
        ("birthday", "3月5日", "5月3日"),
        ("birthday", "农历3月5日", "3月5日"),
        ("birthday", "1990年5月3日", "1991年5月3日"),
        ("lives_in", "北京", "上海"),
        ("lives_in", "浙江杭州", "杭州"),
        ("lives_in", "上海", "上海东路"),
        ("lives_in", "京", "北京"),
        ("lives_in", "", ""),
        ("partner", "小红", "小红"),
    ],
)
def test_values_that_are_not_one(predicate: str, new: str, old: str) -> None:
    assert not same_value(predicate, new, old)


TEXT = st.text(alphabet="张三的妈妈在北京上海喜欢不吃3月5日号 aB9.-，!\x1f", max_size=12)


@given(TEXT, st.sets(TEXT, max_size=3))
def test_the_gist_of_anything_is_a_text(statement: str, names: set[str]) -> None:
    assert gist(statement, names) == gist(statement, sorted(names))


@given(st.sampled_from(PREDICATES), TEXT, TEXT)
def test_nothing_hostile_breaks_comparing(predicate: str, one: str, other: str) -> None:
    """Whatever two texts are, and a value that says less is never said to be more as well."""
    if same_value(predicate, one, other) and len(one) != len(other) and predicate == "age":
        assert same_value(predicate, other, one)


ZHANG, HOME = user("zhang"), private("zhang")


@pytest.fixture
async def chat(journal: Journal) -> Chat:
    return Chat(journal, HOME)


async def standing(chat: Chat) -> list[tuple[str, int]]:
    """The statements that hold, with how often each was told."""
    facts = await chat.rows(Fact)
    old = {id for fact in facts for id in fact.supersedes}
    return sorted((f.statement, f.use_count) for f in facts if f.id not in old)


COLLEAGUE = thing("E1", "同事", "person")


async def test_a_statement_by_another_name_of_the_same_person(chat: Chat) -> None:
    both = {**COLLEAGUE, "aliases": ["周晓"]}
    await chat.told("我同事叫周晓", said("E1", "is_named", "周晓", "张三的同事叫周晓", 1),
                    entities=[both])  # fmt: skip
    await chat.told("我同事喜欢打羽毛球",
                    said("E1", "other", "打羽毛球", "张三的同事常去打羽毛球", 1),
                    entities=[COLLEAGUE])  # fmt: skip
    await chat.told("周晓常去打羽毛球",
                    said("E1", "other", "羽毛球馆", "周晓常去打羽毛球", 1),
                    entities=[{**COLLEAGUE, "name": "周晓"}])  # fmt: skip
    assert await standing(chat) == [("张三的同事叫周晓", 1), ("张三的同事常去打羽毛球", 2)]


def person(name: str, *aliases: str) -> dict[str, object]:
    return {**thing("E1", name, "person"), "aliases": list(aliases)}


@pytest.mark.parametrize(
    ("text", "entity"),
    [("周晓是我同事", person("同事", "周晓")), ("周晓是我同事", person("周晓", "同事"))],
)
async def test_who_was_known_by_name_before_is_no_new_person(chat, text, entity):
    await chat.told("周晓会弹琴", said("E1", "skilled_in", "弹琴", "周晓会弹琴", 1),
                    entities=[person("周晓")])  # fmt: skip
    await chat.told(text, said("E1", "other", "同事", "周晓是张三的同事", 1), entities=[entity])
    await chat.say("zhang", "我同事今天又弹琴了", "张三")
    known = await chat.show()
    assert "周晓会弹琴" in [fact.statement for fact in known.facts.values()]
    await chat.learn(answer(said("同事", "skilled_in", "弹琴", "张三的同事会弹琴", 1)))
    assert await standing(chat) == [("周晓会弹琴", 2), ("周晓是张三的同事", 1)]
    assert len({fact.subject for fact in await chat.rows(Fact)}) == 1


async def test_two_of_one_name_are_nobodys_colleague(journal: Journal) -> None:
    """Who is meant is not clear: the colleague is a person of their own, as before."""
    room = Chat(journal, group("100"))
    await room.told("周晓会弹琴", said("周晓", "skilled_in", "弹琴", "周晓会弹琴", 1),
                    entities=[person("周晓")])  # fmt: skip
    await room.told(
        "我同事会弹琴",
        said("同事", "skilled_in", "弹琴", "李四的同事会弹琴", 1),
        account="li",
        name="李四",
    )
    assert len({fact.subject for fact in await room.rows(Fact)}) == 2


async def test_two_colleagues_with_names_are_two(chat: Chat) -> None:
    for called in ("周晓", "李梅"):
        await chat.told(f"我同事{called}会弹琴",
                        said("E1", "skilled_in", "弹琴", f"{called}会弹琴", 1),
                        entities=[person("同事", called)])  # fmt: skip
    first, second = await chat.rows(Fact)
    assert first.subject != second.subject
    assert {first.statement, second.statement} == {"周晓会弹琴", "李梅会弹琴"}


async def test_a_mother_with_two_names_is_one(chat: Chat) -> None:
    for called in ("王梅", "阿梅"):
        await chat.told(f"我妈妈也叫{called}",
                        said("E1", "other", "名字", f"张三的妈妈也叫{called}", 1),
                        entities=[person("妈妈", called)])  # fmt: skip
    assert len({fact.subject for fact in await chat.rows(Fact)}) == 1


@pytest.mark.parametrize(
    ("predicate", "first", "again"),
    [
        ("age", "31岁", "三十一"),
        ("birthday", "3月5日", "三月五号"),
        ("lives_in", "浙江杭州", "杭州"),
        ("from", "四川省成都市", "成都"),
    ],
)
async def test_one_value_told_in_two_ways_is_kept_once(chat, predicate, first, again):
    for value in (first, again):
        await chat.told(f"我：{value}", said("U1", predicate, value, f"张三：{value}", 1))
    assert await standing(chat) == [(f"张三：{first}", 2)]


@pytest.mark.parametrize(("one", "other"), [("妈妈", "母亲"), ("下属", "手下")])
async def test_a_relative_by_two_words_is_one(chat: Chat, one: str, other: str) -> None:
    for word in (one, other):
        told_of = said(word, "skilled_in", "二胡", f"张三的{word}会拉二胡", 1)
        await chat.told(f"我{word}会拉二胡", told_of)
    assert await standing(chat) == [(f"张三的{one}会拉二胡", 2)]


@pytest.mark.parametrize("word", ["婶婶", "手下"])
async def test_others_have_theirs(journal: Journal, word: str) -> None:
    room = Chat(journal, group("100"))
    for account, called in (("zhang", "张三"), ("li", "李四")):
        await room.say(account, f"我{word}会修车", called)
        await room.learn(answer(said(word, "skilled_in", "修车", f"{called}的{word}会修车", 1)))
    assert len({fact.subject for fact in await room.rows(Fact)}) == 2


async def test_a_relative_is_shown_with_what_they_are_to_whom(chat: Chat) -> None:
    """Or 我同事 could not be recognised as whom the model is shown as 周晓."""
    both = {**COLLEAGUE, "aliases": ["周晓"]}
    await chat.told("我同事叫周晓", said("E1", "is_named", "周晓", "张三的同事叫周晓", 1),
                    entities=[both])  # fmt: skip
    await chat.told("周晓会弹琴", said("E1", "skilled_in", "弹琴", "周晓会弹琴", 1),
                    entities=[{**COLLEAGUE, "name": "周晓"}])  # fmt: skip
    await chat.say("zhang", "我同事又弹琴了", "张三")
    known = await chat.show()
    assert "周晓 / 张三的同事" in [thing.name for thing in known.things.values()]
    assert "周晓会弹琴" in [fact.statement for fact in known.facts.values()]


async def test_what_is_restated_rests_on_what_was_said_of_the_same_person(chat: Chat) -> None:
    await chat.told("我表姐是护士", said("表姐", "works_as", "护士", "张三的表姐是护士", 1))
    for text in ("我嫂子是护士，在儿科当护士", "我表姐还在医院里做护士"):
        await chat.say("zhang", text, "张三")
    await chat.show()
    await chat.learn({"worth": False, "restated": [chat.number("张三的表姐是护士")]})
    (kept,) = await chat.rows(Fact)
    assert kept.evidence == (1, 3)


def test_every_message_has_its_turn() -> None:
    """Much that is known about one matter does not take the place of all others."""
    trains = [
        fact(HOME, ZHANG, f"e:{n}", f"张三收藏的火车模型第{n}号", at=T0 + n) for n in range(40)
    ]
    tea = fact(HOME, ZHANG, "e:tea", "张三泡乌龙茶", at=T0 - 1)
    messages = ["我的火车模型又多了，收藏的模型真多，火车模型", "泡了一壶乌龙茶"]
    ends = {one.id: {one.subject, one.object} for one in [*trains, tea]}
    found = ranked([*trains, tea], ends, messages, {}, {})
    assert tea in found[:2]
    assert sorted(f.id for f in found) == sorted(f.id for f in [*trains, tea])


@pytest.mark.parametrize(
    ("place", "home"),
    [
        ("San Francisco", "a dorm on my own"),
        ("San Francisco", "dorm"),
        ("Boston", "with my parents"),
        ("London", "on the 4th floor"),
        ("London", "a shared two-bedroom flat"),
        ("上海", "学校宿舍"),
        ("上海", "和父母一起"),
        ("北京", "3号楼502室"),
        ("北京", "租的房子"),
    ],
)
async def test_a_home_within_a_place_does_not_replace_the_place(chat: Chat, place, home) -> None:
    for value in (place, home):
        chat.at += 7 * 86_400
        fact = said("U1", "lives_in", value, f"zhang lives in {value}", 1)
        await chat.told(f"I live in {value}", fact, name="zhang")
    assert [f.supersedes for f in await chat.rows(Fact)] == [(), ()]
    chat.at += 86_400
    moved = said("U1", "lives_in", "Tokyo", "zhang lives in Tokyo", 1)
    await chat.told("I moved to Tokyo", moved, name="zhang")
    last = (await chat.facts())["zhang lives in Tokyo"]
    assert len(last.supersedes) == 2  # who moves leaves the home, too


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("San Francisco", "a flat in Berlin"),
        ("上海", "杭州的公寓"),
        ("上海", "北京"),
        ("Boston", "The Hague"),
        ("a dorm", "with my parents"),
    ],
)
async def test_another_place_replaces_the_first(chat: Chat, old: str, new: str) -> None:
    for value in (old, new):
        chat.at += 7 * 86_400
        fact = said("U1", "lives_in", value, f"zhang lives in {value}", 1)
        await chat.told(f"I live in {value}", fact, name="zhang")
    assert len((await chat.facts())[f"zhang lives in {new}"].supersedes) == 1
