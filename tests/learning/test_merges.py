"""Learning where entities are one, and accounts one person's."""

from graph_memory.library.identity_edits import IdentityEdits
from graph_memory.model import User, asker_of
from graph_memory.privacy.scope import Policy, Rank, span, view
from graph_memory.store import Journal

from ..makers import group, put, user
from ..scripted import said
from .chat import Chat

ZHANG, NEW = user("zhang"), user("zhang2")


async def test_in_a_group_accounts_are_who_they_are(journal: Journal):
    room = Chat(journal, group("100"))
    await room.told("我住北京", said("U1", "lives_in", "北京", "张三住北京", 1))
    await put(journal, User(NEW))
    await IdentityEdits(room.context).link(ZHANG, NEW, "owner")
    await room.told(
        "我住上海", said("U1", "lives_in", "上海", "三哥住上海", 1), name="三哥", account="zhang2"
    )
    fact = (await room.facts())["三哥住上海"]
    assert (fact.subject, fact.supersedes) == (NEW, ())
    seen = view(room.session, asker_of(room.session, NEW), Policy(), room.context.attendance)
    assert seen.rank(*span(fact)) is Rank.OWN
