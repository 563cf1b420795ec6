"""Learning where entities are one, and accounts one person's."""

from graph_memory.library.identity_edits import IdentityEdits
from graph_memory.model import Fact, User, asker_of
from graph_memory.privacy.scope import Policy, Rank, span, view
from graph_memory.store import Journal

from ..makers import entity, group, private, put, user
from ..scripted import answer, said
from .chat import Chat

ZHANG, NEW = user("zhang"), user("zhang2")
BEAN, DOUDOU = entity("豆子"), entity("豆豆")


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
