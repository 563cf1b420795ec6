"""Learning where entities are one, and accounts one person's."""

from graph_memory.library.identity_edits import IdentityEdits
from graph_memory.model import Fact, User, asker_of
from graph_memory.privacy.scope import Policy, Rank, span, view
from graph_memory.store import Journal

from ..makers import entity, group, private, put, user
from ..scripted import answer, said, thing
from .chat import Chat

ZHANG, NEW = user("zhang"), user("zhang2")
BEAN, DOUDOU = entity("豆子"), entity("豆豆")


async def two_cats(chat: Chat) -> None:
    """豆豆 and 豆子, of each of whom one thing is known."""
    await chat.told(
        "豆豆是橘猫",
        said("E1", "other", "橘猫", "豆豆是橘猫", 1),
        entities=[thing("E1", "豆豆", "animal")],
    )
    await chat.told(
        "豆子怕洗澡",
        said("E1", "other", "洗澡", "豆子怕洗澡", 1),
        entities=[thing("E1", "豆子", "animal")],
    )


async def test_what_is_learned_later_goes_to_the_survivor_and_stays(journal: Journal):
    chat = Chat(journal, private("zhang"))
    await two_cats(chat)
    await IdentityEdits(journal).merge(BEAN, DOUDOU, "owner")
    await chat.told("豆子会开门", said("豆子", "skilled_in", "开门", "豆子会开门", 1))
    await chat.told(
        "豆子三岁了",
        said("E1", "age", "三岁", "豆子三岁", 1),
        entities=[thing("E1", "豆子", "animal")],
    )
    await IdentityEdits(journal).split(BEAN, "owner")
    await chat.told("豆子胖了", said("豆子", "status", "胖", "豆子胖了", 1))
    subjects = {text: fact.subject for text, fact in (await chat.facts()).items()}
    assert subjects == {
        "豆豆是橘猫": DOUDOU,
        "豆子怕洗澡": BEAN,
        "豆子会开门": DOUDOU,
        "豆子三岁": DOUDOU,
        "豆子胖了": BEAN,  # its own again, though the other goes by that name, too
    }


async def test_known_items_show_one_thing_once(journal: Journal):
    chat = Chat(journal, private("zhang"))
    await two_cats(chat)
    await chat.say("zhang", "豆子和豆豆打架", "张三")
    assert len((await chat.show()).things) == 2
    await chat.learn(answer())
    await IdentityEdits(journal).merge(BEAN, DOUDOU, "owner")
    await chat.say("zhang", "豆子和豆豆是同一只", "张三")
    known = await chat.show()
    assert {each.node for each in known.things.values()} == {DOUDOU}
    (label,) = known.things
    assert {fact.statement for fact in known.facts.values()} == {"豆豆是橘猫", "豆子怕洗澡"}
    lines = "\n".join(known.lines(chat.context.zone))
    assert f"{label} other: 豆子怕洗澡" in lines
    assert f"{label} other: 豆豆是橘猫" in lines


async def test_a_fact_about_one_replaces_one_about_the_other(journal: Journal):
    chat = Chat(journal, private("zhang"))
    for cat, place in (("豆豆", "北京"), ("豆子", "天津")):
        await chat.told(
            f"{cat}住{place}",
            said("E1", "lives_in", place, f"{cat}住{place}", 1),
            entities=[thing("E1", cat, "animal")],
        )
    await IdentityEdits(journal).merge(BEAN, DOUDOU, "owner")
    await chat.told("豆豆搬到上海了", said("豆豆", "lives_in", "上海", "豆豆住上海", 1))
    facts = await chat.facts()
    old = {facts["豆豆住北京"].id, facts["豆子住天津"].id}
    assert set(facts["豆豆住上海"].supersedes) == old
    await chat.told("豆子住在上海", said("豆子", "lives_in", "上海", "豆子住上海", 1))
    facts = await chat.facts()
    assert "豆子住上海" not in facts  # said before
    assert facts["豆豆住上海"].use_count == 2


async def test_an_end_is_told_of_the_survivor(journal: Journal):
    chat = Chat(journal, private("zhang"))
    await two_cats(chat)
    await IdentityEdits(journal).merge(BEAN, DOUDOU, "owner")
    await chat.say("zhang", "豆子现在不怕洗澡了", "张三")
    await chat.show()
    change = await chat.learn(answer(ended=[chat.number("豆子怕洗澡")]))
    (over,) = (op.after for op in change.ops if op.kind == Fact.kind and op.after["supersedes"])
    assert over["subject"] == DOUDOU
    assert over["valid_to"] is not None


async def test_what_one_account_told_the_other_may_end(journal: Journal):
    old, new = Chat(journal, private("zhang")), Chat(journal, private("zhang2"))
    await old.told("我住北京", said("U1", "lives_in", "北京", "张三住北京", 1))
    await old.told("我爱吃辣", said("U1", "likes", "辣", "张三爱吃辣", 1))
    new.at = old.at
    await new.say("zhang2", "在吗", "三哥")
    assert (await new.show()).facts == {}
    await new.learn(answer())
    await IdentityEdits(journal).link(ZHANG, NEW, "owner")
    await new.say("zhang2", "我不吃辣了", "三哥")
    known = await new.show()
    assert [person.node for person in known.people.values()] == [NEW]
    change = await new.learn(answer(ended=[new.number("张三爱吃辣")]))
    (over,) = (op.after for op in change.ops if op.kind == Fact.kind and op.after["supersedes"])
    assert (over["subject"], over["session"]) == (NEW, new.session.id)
    await new.told(
        "我搬到上海了",
        said("U1", "lives_in", "上海", "三哥住上海", 1),
        name="三哥",
        account="zhang2",
    )
    first, second = (await old.facts())["张三住北京"], (await new.facts())["三哥住上海"]
    assert second.supersedes == (first.id,)
    assert second.subject == NEW
    # Who is no longer linked does not see what the other account said since.
    await IdentityEdits(journal).unlink(NEW, "owner")
    seen = view(new.session, asker_of(old.session, ZHANG), Policy(), old.context.attendance)
    assert seen is None
    assert (await new.facts())["三哥住上海"].supersedes == ()


async def test_in_a_group_accounts_are_who_they_are(journal: Journal):
    room = Chat(journal, group("100"))
    await room.told("我住北京", said("U1", "lives_in", "北京", "张三住北京", 1))
    await put(journal, User(NEW))
    await IdentityEdits(journal).link(ZHANG, NEW, "owner")
    await room.told(
        "我住上海", said("U1", "lives_in", "上海", "三哥住上海", 1), name="三哥", account="zhang2"
    )
    fact = (await room.facts())["三哥住上海"]
    assert (fact.subject, fact.supersedes) == (NEW, ())
    seen = view(room.session, asker_of(room.session, NEW), Policy(), room.context.attendance)
    assert seen is not None
    assert seen.rank(*span(fact)) is Rank.OWN
