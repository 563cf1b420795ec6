"""Facts as people see them: whose they are, forgetting, undoing, browsing."""

import math
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from graph_memory.errors import ConflictError, NotFoundError
from graph_memory.library import OWNER, Amendment, Conversations, Effect, Library, Meant
from graph_memory.model import Entity, Episode, Fact, Forgotten, Name, Row, asker_of
from graph_memory.privacy.redaction import MASK
from graph_memory.retention import DAY
from graph_memory.store import Journal
from graph_memory.store.queries import Cursor, FactFilter

from ..cases import tabled
from ..makers import (
    T0,
    context,
    entity,
    fact,
    group,
    last_change,
    message,
    name,
    private,
    put,
    user,
)

ZHANG, LI = user("zhang"), user("li")
HOME, ROOM = private("zhang"), group("1")
NOW = T0 + 10 * DAY
OCTOBER = datetime(2026, 10, 9, tzinfo=UTC).timestamp()


@pytest.fixture
def library(journal: Journal) -> Library:
    return Library(context(journal, now=lambda: NOW))


def knowledge() -> list[Row]:
    return [
        HOME, ROOM, private("li"), private("zhang", "lin"),
        name(HOME, ZHANG, "张三", T0 + 1), name(ROOM, ZHANG, "三哥"),
        name(HOME, entity("猫"), "猫"),
        fact(HOME, ZHANG, entity("猫"), "张三喜欢猫"),
        fact(private("zhang", "lin"), ZHANG, entity("瑜伽"), "张三在练瑜伽", importance=1.0),
        fact(private("li"), ZHANG, entity("债"), "张三欠李四钱", speaker=LI),
        fact(ROOM, ZHANG, entity("狗"), "张三在群里说怕狗", predicate="dislikes"),
    ]  # fmt: skip


async def test_mine_is_what_i_may_see_about_me_strongest_first(journal: Journal, library: Library):
    await put(journal, *knowledge())
    mine = await library.mine(asker_of(HOME, ZHANG))
    assert [line.fact.statement for line in mine] == ["张三在练瑜伽", "张三喜欢猫"]
    assert (mine[1].subject, mine[1].object) == ("张三", "猫")
    assert mine[0].object == entity("瑜伽").rsplit(":", 1)[-1], (
        "its name belongs to another persona"
    )
    in_group = await library.mine(asker_of(ROOM, ZHANG))
    assert [line.fact.statement for line in in_group] == ["张三在群里说怕狗"]
    assert await library.mine(asker_of(private("li"), LI)) == []


async def test_forgetting_leaves_a_name_to_those_who_know_more(journal, library):
    rice, named = entity("年糕"), name(ROOM, entity("年糕"), "年糕")
    openly = fact(ROOM, ZHANG, rice, "张三的猫叫年糕", speaker=ZHANG)
    secret = fact(ROOM, LI, rice, "李四偷偷喂年糕", speaker=LI, confidential=True, at=T0 + DAY)
    await put(journal, ROOM, named, openly, secret)
    await library.forget([openly.id], asker_of(ROOM, ZHANG), ZHANG)
    left = await journal.read(lambda rows: rows.get(Name, named.id))
    assert left == replace(named, first_at=T0 + DAY, confidential=True)
    await library.undo(await last_change(journal), ZHANG)
    assert await journal.read(lambda rows: rows.get(Name, named.id)) == named


async def test_forgetting_is_undone_though_the_conversation_went_on(journal, library):
    said = await journal.append(message(HOME, ZHANG, "我喜欢猫"), HOME)
    cat = fact(HOME, ZHANG, entity("猫"), "张三喜欢猫", evidence=(said.id,))
    run = Episode("ep:1", HOME.id, T0, T0, said.id, said.id, 1, "聊猫", (ZHANG,))
    called = name(HOME, entity("猫"), "猫")
    await put(journal, HOME, cat, run, called)
    change = await library.forget([cat.id], None, ZHANG)
    later = replace(run, last_message=9, messages=9, summary="聊别的")
    await put(journal, later, replace(called, last_at=T0 + 60))
    await library.undo(change.id, ZHANG)
    assert (await library.fact(cat.id)).muted == frozenset()
    assert (await journal.read(lambda rows: rows.get(Episode, run.id))) == later


async def test_archive_and_restore(journal: Journal, library: Library):
    some = fact(HOME, ZHANG, entity("猫"), "张三喜欢猫")
    await put(journal, HOME, some)
    await library.act("archive", [some.id], OWNER)
    assert (await library.browse(FactFilter(status="active"))).total == 0
    assert (await library.browse(FactFilter(status="archived"))).items[0].fades_at == math.inf
    with pytest.raises(NotFoundError):
        await library.act("archive", [some.id], OWNER)
    await library.act("restore", [some.id], OWNER)
    (line,) = (await library.browse(FactFilter(status="active"))).items
    assert line.strength == 1.0, "as fresh as if just used"


async def test_what_was_corrected_again_is_not_taken_back_beneath_that(journal, library):
    """What was said before would stand beside the newest word of it."""
    one = fact(HOME, ZHANG, entity("咖啡"), "张三喝一杯")
    await put(journal, HOME, one)
    first = await library.amend(one.id, Amendment("张三喝两杯"), OWNER)
    second = await library.amend(first.ops[0].id, Amendment("张三喝三杯"), OWNER)
    with pytest.raises(ConflictError) as caught:
        await library.undo(first.id, OWNER)
    assert caught.value.later == second.id
    for change in (second, first):
        await library.undo(change.id, OWNER)
    (line,) = (await library.browse(FactFilter(status="active"))).items
    assert line.fact == one


@tabled
async def test_browsing(journal, library, wanted, statements):
    await put(journal, *knowledge())
    made = {"node": entity, "place": lambda place: Cursor(*place)}
    given = {key: made.get(key, lambda same: same)(value) for key, value in wanted.items()}
    page = await library.browse(FactFilter(**given))
    assert {line.fact.statement for line in page.items} == {*statements}


async def test_overview(journal: Journal, library: Library):
    await put(journal, *knowledge())
    overview = await library.overview()
    assert overview.personas == ["lin", "mei"]
    assert (ROOM.circle, "群1") in overview.circles
    assert (HOME.circle, "张三") in overview.circles
    assert overview.predicates == {"likes": 3, "dislikes": 1}
    assert [(each.node, each.name, each.facts) for each in overview.people] == [(ZHANG, "张三", 4)]
    assert {each.facts for each in overview.things} == {1}


CAT = fact(HOME, ZHANG, entity("猫"), "张三喜欢猫", evidence=(1,))
DOG = fact(HOME, ZHANG, entity("狗"), "张三怕狗", evidence=(2,))
TEA = fact(ROOM, ZHANG, entity("茶"), "张三喜欢喝茶")


@pytest.fixture
async def seeded(journal: Journal) -> Journal:
    for number, text in enumerate(("我喜欢猫", "我怕狗"), 1):
        await journal.append(message(HOME, ZHANG, text, T0 + number), HOME)
    names = [name(HOME, ZHANG, "张三"), name(HOME, entity("猫"), "猫")]
    told = Episode("ep:1", HOME.id, T0, T0, 1, 2, 2, "聊了猫和狗")
    things = (Entity(each.object) for each in (CAT, DOG, TEA))
    await put(journal, HOME, ROOM, *names, *things, CAT, DOG, TEA, told)
    return journal


async def everything(journal: Journal) -> list[Row]:
    """All rows there are."""
    kinds = (Fact, Forgotten, Episode, Entity)
    return await journal.read(lambda rows: [row for kind in kinds for row in rows.scan(kind)])


@tabled
async def test_what_is_weighed_is_what_is_done_and_undone(seeded, library, action, expected):
    expected, ids = Effect(*expected), [CAT.id, DOG.id, TEA.id, CAT.id, "f:gone"]
    before = await everything(seeded)
    assert await library.weigh(action, ids) == expected
    assert await everything(seeded) == before
    if not expected.facts:
        with pytest.raises(NotFoundError):
            await library.act(action, ids, OWNER)
        return
    change = await library.act(action, ids, OWNER)
    done = [op.kind for op in change.ops]
    assert (done.count("fact"), done.count("forgotten"), done.count("episode")) == (
        expected.facts,
        expected.messages,
        expected.summaries,
    )
    assert await library.weigh(action, ids) == Effect(0, 4, 0, 0)
    await library.undo(change.id, OWNER)
    assert await everything(seeded) == before


async def test_an_amended_fact_takes_the_place_of_the_old_one(seeded, library):
    await library.act("pin", [CAT.id], OWNER)
    before = await everything(seeded)
    change = await library.amend(CAT.id, Amendment("张三喜欢两只猫"), OWNER, mute=True)
    old = await library.fact(CAT.id)
    (new,) = old.replaced_by
    assert new.fact.statement == "张三喜欢两只猫"
    for same in ("session", "subject", "object", "predicate", "speaker", "said_at", "evidence"):
        assert getattr(new.fact, same) == getattr(CAT, same)
    assert (new.fact.pinned, old.line.fact.pinned) == (True, False)
    assert (new.state, old.line.state) == ("active", "superseded")
    assert [line.fact.id for line in (await library.fact(new.fact.id)).replaces] == [CAT.id]
    assert CAT.id not in {line.fact.id for line in await library.mine(asker_of(HOME, ZHANG))}
    assert [row.message for row in await everything(seeded) if isinstance(row, Forgotten)] == [1]
    # Whoever saw the old one sees the new one, and nobody else.
    assert new.fact.id in {line.fact.id for line in await library.mine(asker_of(HOME, ZHANG))}
    await library.undo(change.id, OWNER)
    assert await everything(seeded) == before


async def test_an_edit_of_a_plan_has_the_day_that_its_words_name(seeded, library) -> None:
    plan = {"predicate": "plans", "due": T0 + DAY, "awaits": ("f:home",)}
    await put(seeded, replace(CAT, statement="张三9月22日考试", **plan))
    for words, due in (("张三9月22日考数学", T0 + DAY), ("张三10月8日考试", OCTOBER)):
        await library.amend(CAT.id, Amendment(words), OWNER)
        new = (await library.fact(CAT.id)).replaced_by[-1].fact
        assert (new.due, new.awaits) == (due, plan["awaits"])
        await library.undo(await last_change(seeded), OWNER)
    await library.amend(CAT.id, Amendment("", subject=Meant("王五")), OWNER)
    (other,) = (await library.fact(CAT.id)).replaced_by
    assert other.fact.awaits == ()  # which are another's


async def test_keywords_stay_with_the_words_they_are_for(seeded: Journal, library: Library) -> None:
    await put(seeded, replace(CAT, keywords="宠物"))
    await library.amend(CAT.id, Amendment(CAT.statement, "has_pet"), OWNER)
    (same,) = (await library.fact(CAT.id)).replaced_by
    await library.amend(same.fact.id, Amendment("张三怕猫"), OWNER)
    (other,) = (await library.fact(same.fact.id)).replaced_by
    assert (same.fact.keywords, other.fact.keywords) == ("宠物", "")


@pytest.mark.parametrize("alone", [{"hearsay": True}, {"importance": 0.1}])
async def test_how_sure_and_important_it_is_is_no_other_fact(seeded, library, alone):
    seen = (await library.fact(CAT.id)).version
    await library.amend(CAT.id, Amendment("", **alone), OWNER)
    found = await library.fact(CAT.id)
    assert alone.items() <= asdict(found.line.fact).items()
    assert (found.line.fact.half_life < CAT.half_life) is ("importance" in alone)
    assert found.replaced_by == []
    assert found.version != seen


async def test_what_is_recalled_cannot_be_recalled_again(seeded: Journal, library: Library) -> None:
    with pytest.raises(NotFoundError):
        await library.hear_again(1, OWNER)


async def test_a_statement_is_one_line_of_bounded_length(seeded: Journal, library: Library) -> None:
    await library.amend(CAT.id, Amendment("张三\n喜欢\u202e猫" + "喵" * 900), OWNER)
    (new,) = (await library.fact(CAT.id)).replaced_by
    assert "\n" not in new.fact.statement
    assert len(new.fact.statement) <= 300


async def test_the_owner_reads_no_secrets(journal: Journal, library: Library):
    said = await journal.append(message(HOME, ZHANG, "我的WiFi密码是Zx9qWv7T"), HOME)
    told = fact(HOME, ZHANG, entity("WiFi"), "张三换了WiFi密码", evidence=(said.id,))
    met = Episode("ep:1", HOME.id, T0, T0, said.id, said.id, 1, "张三换了WiFi密码", (ZHANG,))
    await put(journal, HOME, told, met)
    conversations = Conversations(context(journal, now=lambda: NOW))
    (line,) = (await conversations.scene(said.id)).lines
    (source,) = (await library.fact(told.id)).sources
    (read,) = (await conversations.read(met.id)).messages
    assert {line.text, source.text, read.text} == {f"我的WiFi密码是{MASK}"}


async def test_whose_chat_it_is_says_no_name_that_the_asker_does_not_see(journal, library):
    away = private("li", "lin")
    await put(
        journal, *knowledge(), away, name(away, ZHANG, "债主"),
    )  # fmt: skip
    assert {line.session for line in await library.mine(asker_of(HOME, ZHANG))} <= {
        HOME,
        private("zhang", "lin"),
    }
