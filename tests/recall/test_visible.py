"""Views of askers and the conversations in what they see."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.model import Presence, Session, asker_of
from graph_memory.privacy.scope import OPEN, Attendance, Policy, Sharing
from graph_memory.recall.index import Index
from graph_memory.recall.visible import ConversationContext, ViewCache
from graph_memory.recall.weights import MINOR, STRONG
from tests.makers import T0, entity, fact, group, message, private, user

Amounts = list[tuple[bool, int]]
amounts = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=40)


def flow_of(documents: Amounts) -> tuple[ConversationContext, list[bool], list[int]]:
    follows = [at > 0 and follows for at, (follows, _) in enumerate(documents)]
    return ConversationContext(np.array(follows)), follows, [amount for _, amount in documents]


def conversations(follows: list[bool]) -> list[list[int]]:
    found: list[list[int]] = []
    for at, continues in enumerate(follows):
        if not continues:
            found.append([])
        found[-1].append(at)
    return [each for each in found if len(each) > 1]


@given(amounts)
def test_words_are_lent_to_those_beside(documents: Amounts) -> None:
    flow, follows, own = flow_of(documents)
    expected = [float(amount) for amount in own]
    for at in range(1, len(own)):
        if follows[at]:
            expected[at] += STRONG * own[at - 1]
            expected[at - 1] += MINOR * own[at]
    assert flow.spread_all(np.array(own, np.int32)).tolist() == pytest.approx(expected)
    some = np.flatnonzero(own).astype(np.intp)[::-1]
    hits, amounts = flow.spread(some, np.array(own, np.uint32)[some])
    found = dict(zip(hits.tolist(), amounts.tolist(), strict=True))
    assert len(found) == len(hits)
    assert found == pytest.approx({at: amount for at, amount in enumerate(expected) if amount})


@given(amounts)
def test_conversations_are_summed_up(documents: Amounts) -> None:
    flow, follows, own = flow_of(documents)
    together = conversations(follows)
    assert flow.members.tolist() == [at for each in together for at in each]
    assert flow.sizes.tolist() == [len(each) for each in together]
    place = flow.of_members(np.arange(len(together), dtype=np.float64))
    assert place.tolist() == [n for n, each in enumerate(together) for _ in each]
    values = np.array(own, np.float64)[flow.members]
    if together:
        best = [sum(sorted((own[at] for at in each), reverse=True)[:3]) for each in together]
        assert flow.best(values, 3).tolist() == best
    around = [
        np.mean([own[n] for n in (at - 1, at + 1) if n in each]) for each in together for at in each
    ]
    assert flow.around(values).tolist() == around


GROUP = group("9")


def views_of(*sessions: Session) -> ViewCache:
    views = ViewCache(Policy(), Attendance())
    views.learn(sessions)
    return views


def test_members_of_a_group_share_what_they_see() -> None:
    views = views_of(GROUP, private("1"), private("2"))
    first, second = (views.of(asker_of(GROUP, user(number))) for number in "12")
    assert first is second
    assert set(first) == {GROUP.id}
    index = Index()
    assert index.visible(first) is index.visible(second)
    assert views.of(asker_of(private("1"), user("1"))) is not first


def test_what_the_owner_is_shown_in_confidence_is_shown_to_nobody_else() -> None:
    views = ViewCache(Policy(Sharing.SHARED, participants_only=False), Attendance())
    views.learn([GROUP])
    asker = asker_of(GROUP, user("1"))
    assert views.of(asker, OPEN)[GROUP.id].confidences
    assert not views.of(asker)[GROUP.id].confidences


def test_who_comes_to_a_group_sees_it_from_then_on() -> None:
    views = views_of(GROUP, private("1"))
    asker = asker_of(private("1"), user("1"))
    assert GROUP.id not in views.of(asker)
    views.follow(Presence(GROUP.circle, user("1"), T0))
    assert views.of(asker)[GROUP.id].windows[0][0] == T0


def test_views_are_kept_for_so_many_askers_only() -> None:
    homes = [private(str(number)) for number in range(600)]
    views = views_of(*homes)
    askers = [asker_of(home, home.owner) for home in homes]
    assert [set(views.of(asker)) for asker in askers] == [{home.id} for home in homes]
    assert len(views._known) == 256


def test_facts_without_messages_follow_one_another_as_these_did() -> None:
    home, index = private("1"), Index()
    said = replace(message(home, home.owner, "我搬家了", T0 + 150), id=1)
    index.put_message(said)
    told = {"a": T0 + 120, "b": T0, "c": T0 + 60, "d": T0 + 60, "e": T0 + 7_200}
    for name, at in told.items():
        index.put(fact(home, home.owner, entity(name), name, at=at))
    index.put(fact(home, home.owner, entity("f"), "f", at=T0 + 150, evidence=(said.id,)))
    sight = index.visible(views_of(home).of(asker_of(home, home.owner)))
    flow = sight.conversations
    shown = [index.documents[int(number)].text for number in sight.numbers]
    joined = [shown[at] for at in flow.members]
    first = min("cd", key=joined.index)
    assert joined == ["b", first, "d" if first == "c" else "c", "a"]
    assert flow.sizes.tolist() == [2, 2], "what was said at the same time has no order"
