"""The two tests a row must pass, on the cases the memory model spells out."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.inspect.view_as import Barrier, barriers
from graph_memory.model import NO_PERSONA, Asker, Layer, Presence, Session, User, asker_of
from graph_memory.privacy.scope import (
    OPEN,
    Attendance,
    Policy,
    Rank,
    Sharing,
    View,
    span,
    standpoint,
    view,
)

from ..cases import tabled
from ..makers import LI, ZHANG, entity, fact, group, private, user

KNOWS, REST = Layer.KNOWS, Layer.SESSION
TO_RUO = asker_of(private("zhang", "ruo"), ZHANG)


def rank(
    session: Session,
    asker: Asker,
    layer: Layer = REST,
    at: float = 5.0,
    policy: Policy | None = None,
    attendance: Attendance | None = None,
) -> Rank:
    seen = view(session, asker, policy or Policy(), attendance or Attendance())
    return seen.rank(layer, at, at) if seen else Rank.HIDDEN


@pytest.mark.parametrize(("session", "here", "shown"), [
    (private("zhang"), private("zhang"), {KNOWS, REST}), (private("zhang"), private("li"), set()),
    (private("zhang"), group("1"), set()), (group("1"), group("1"), {KNOWS, REST}),
    (group("1"), group("2"), set()), (private("zhang"), private("zhang", NO_PERSONA), {KNOWS}),
    (private("zhang", NO_PERSONA), private("zhang", NO_PERSONA), {KNOWS, REST}),
])  # fmt: skip
def test_who_hears_what_was_said_where(session: Session, here: Session, shown: set[Layer]):
    asker = asker_of(here, here.owner or ZHANG)
    for layer in (KNOWS, REST):
        assert rank(session, asker, layer) is (Rank.OWN if layer in shown else Rank.HIDDEN)


@tabled
def test_what_one_account_of_ours_has_for_itself_stays_with_it(said_to, asked, shown):
    session, here = private("zhang", bot=said_to), private("zhang", bot=asked)
    assert (rank(session, asker_of(here, ZHANG), KNOWS) is Rank.OWN) is shown
    assert rank(session, asker_of(private("li", bot=said_to), LI), KNOWS) is Rank.HIDDEN
    assert rank(session, asker_of(group("1"), ZHANG), KNOWS) is Rank.HIDDEN
    linked = asker_of(private("li", bot=asked), LI, [ZHANG])
    assert (rank(session, linked, KNOWS) is Rank.OWN) is shown


@pytest.mark.parametrize(
    ("told", "asks", "policy", "seen"),
    [
        (private("zhang"), asker_of(private("zhang"), ZHANG), Policy(), True),
        (private("zhang"), TO_RUO, Policy(), False),
        (private("zhang"), TO_RUO, Policy(cross_persona=True), False),
        (private("zhang"), TO_RUO, Policy(Sharing.SHARED), True),
        (private("zhang"), asker_of(private("li"), LI), Policy(participants_only=False), False),
        (private("zhang"), asker_of(group("1"), ZHANG), Policy(participants_only=False), False),
        (group("1"), asker_of(group("1"), ZHANG), Policy(), False),
        (private("zhang"), asker_of(private("li"), LI), OPEN, True),
        (group("1"), asker_of(group("1"), LI), OPEN, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("layer", Layer)
def test_a_confidence_is_for_its_teller_in_private_and_for_the_owner(
    told, asks, policy, seen, layer
):
    found = view(told, asks, policy, Attendance())
    rank = found.rank(layer, 5.0, 5.0, confidential=True) if found else Rank.HIDDEN
    assert (rank is not Rank.HIDDEN) == seen


def test_a_group_is_remembered_privately_by_who_was_there_when_it_was_said():
    attendance = Attendance([Presence(group("1").circle, ZHANG, 2.0, 8.0)])
    asker = asker_of(private("zhang"), ZHANG)

    def seen(at: float) -> Rank:
        return rank(group("1"), asker, at=at, attendance=attendance)

    assert [seen(at) for at in (1.9, 2.0, 8.0, 8.1)] == [
        Rank.HIDDEN, Rank.OWN, Rank.OWN, Rank.HIDDEN,
    ]  # fmt: skip
    assert rank(group("1"), asker_of(private("li"), LI), attendance=attendance) is Rank.HIDDEN


def test_that_a_large_group_moves_is_followed_at_once() -> None:
    """The bot waits meanwhile: nobody's presence is looked for among all others'."""
    present = [Presence(group("1").circle, user(str(number)), 1.0) for number in range(20_000)]
    attendance = Attendance(present)
    began = time.process_time()
    for each in present:
        attendance.forget(each.user)
    assert time.process_time() - began < 1.0
    assert attendance.windows(group("1").circle, [user("7")]) == ()


def test_rejoining_opens_a_new_interval_and_does_not_bridge_the_absence():
    attendance = Attendance([Presence("c", ZHANG, 1.0, 2.0), Presence("c", ZHANG, 5.0)])
    assert attendance.windows("c", [ZHANG]) == ((1.0, 2.0), (5.0, math.inf))
    attendance.add(Presence("c", ZHANG, 5.0, 6.0))
    assert attendance.windows("c", [ZHANG]) == ((1.0, 2.0), (5.0, 6.0))


def test_an_episode_must_have_been_attended_from_end_to_end():
    attendance = Attendance([Presence(group("1").circle, ZHANG, 2.0, 8.0)])
    seen = view(group("1"), asker_of(private("zhang"), ZHANG), Policy(), attendance)
    assert seen.rank(REST, 2.0, 8.0) is Rank.OWN
    assert seen.rank(REST, 1.0, 8.0) is Rank.HIDDEN


TIMES = st.lists(st.integers(0, 9).map(float), max_size=9).map(sorted)


@given(TIMES, st.lists(st.tuples(TIMES.filter(bool), st.booleans()), max_size=3), st.booleans())
def test_who_hears_any_of_what_was_said_hears_one_of_it(times, spans, is_own):
    windows = tuple((span[0], math.inf if is_open else span[-1]) for span, is_open in spans)
    seen = View(windows, Rank.OWN, Rank.OWN if is_own else Rank.HIDDEN)
    assert seen.hears_any(times) == any(seen.rank(REST, at, at) for at in times)


def test_who_left_long_ago_is_told_in_no_time_that_they_heard_nothing_since():
    seen, said = View(((0.0, 1.0),), Rank.OWN, Rank.OWN), [2.0 + at for at in range(100_000)]
    began = time.process_time()
    assert not any(seen.hears_any(said) for _ in range(100))
    assert time.process_time() - began < 0.1


@pytest.mark.parametrize(("policy", "knows", "rest"), [
    (Policy(), Rank.OWN, Rank.HIDDEN),
    (Policy(cross_persona=True), Rank.OWN, Rank.FOREIGN),
    (Policy(Sharing.ISOLATED), Rank.HIDDEN, Rank.HIDDEN),
    (Policy(Sharing.ISOLATED, cross_persona=True), Rank.FOREIGN, Rank.FOREIGN),
    (Policy(Sharing.SHARED), Rank.OWN, Rank.OWN),
])  # fmt: skip
def test_what_another_persona_sees(policy: Policy, knows: Rank, rest: Rank):
    asker = asker_of(private("zhang", "life_advisor"), ZHANG)
    session = private("zhang", "tech_assistant")
    assert rank(session, asker, KNOWS, policy=policy) is knows
    assert rank(session, asker, REST, policy=policy) is rest


def test_linked_accounts_are_one_listener():
    asker = Asker(ZHANG, private("zhang").circle, False, "mei", frozenset({ZHANG, LI}))
    assert rank(private("li"), asker) is Rank.OWN


def test_nobody_in_particular_sees_no_private_chat_and_no_group():
    asker = asker_of(private("zhang"), None)
    assert rank(private("zhang"), asker) is Rank.HIDDEN
    assert rank(group("1"), asker) is Rank.HIDDEN


def test_audience_off_lifts_only_the_audience_test():
    policy = Policy(participants_only=False)
    asker = asker_of(private("zhang", "mei"), ZHANG)
    assert rank(private("li", "mei"), asker, policy=policy) is Rank.OWN
    assert rank(private("li", "other"), asker, policy=policy) is Rank.HIDDEN


def test_layer_follows_the_subject():
    session = group("1")
    assert span(fact(session, ZHANG, entity("猫"), "张三喜欢猫", at=3.0))[:3] == (KNOWS, 3.0, 3.0)
    about_world = fact(session, entity("Docker"), entity("Python"), "Docker 装着 Python", at=3.0)
    assert span(about_world)[0] is REST
    with pytest.raises(TypeError):
        span(User(ZHANG))


accounts = st.sampled_from(["zhang", "li", "wang"])
personas = st.sampled_from(["mei", "lin", NO_PERSONA])
sessions = st.one_of(
    st.builds(private, accounts, personas, st.sampled_from(["", "998", "99:7"])),
    st.builds(group, st.sampled_from(["1", "2"]), personas),
)
times = st.integers(0, 9).map(float)
presences = st.lists(
    st.builds(
        lambda g, a, since, length: Presence(
            group(g).circle, user(a), since, None if length is None else since + length
        ),
        st.sampled_from(["1", "2"]),
        accounts,
        times,
        st.none() | times,
    )
)
policies = st.builds(Policy, st.sampled_from(Sharing), st.booleans(), st.booleans())
layers = st.sampled_from(Layer)


@given(sessions, sessions, accounts, presences, policies, layers, times)
def test_a_stricter_policy_never_shows_more(session, here, account, present, policy, layer, at):
    asker = asker_of(here, here.owner or user(account))
    attendance = Attendance(present)

    def seen(policy: Policy) -> Rank:
        return rank(session, asker, layer, at, policy, attendance)

    strict = Policy(Sharing.ISOLATED, False, True)
    assert seen(strict) <= seen(policy) <= seen(Policy(Sharing.SHARED, True, False))


@given(sessions, sessions, accounts, presences, layers, times)
def test_participants_only_holds_by_its_definition(session, here, account, present, layer, at):
    """Restated from the memory model, independently of how scope.py computes it."""
    asker = asker_of(here, here.owner or user(account))
    found = rank(session, asker, layer, at, Policy(), Attendance(present))
    if here.is_group:
        there = session.circle == here.circle
    elif session.is_group:
        # A later record of the same interval replaces the earlier one.
        last = {(p.circle, p.user, p.since): p for p in present}.values()
        there = any(
            p.circle == session.circle
            and p.user == asker.user
            and p.since <= at
            and (p.until is None or at <= p.until)
            for p in last
        )
    else:
        ours = {private(asker.user.partition(":")[2]).circle, here.circle}
        there = session.owner == asker.user and session.circle in ours
    persona = session.persona == here.persona or layer is KNOWS
    assert found is (Rank.OWN if there and persona else Rank.HIDDEN)


@given(
    sessions, sessions, sessions, accounts, accounts, st.sets(accounts, max_size=2), presences,
    policies,
)  # fmt: skip
def test_who_share_a_standpoint_see_the_same(
    session, here, there, one, other, linked, present, policy
):
    more = [user(account) for account in linked]
    first = asker_of(here, here.owner or user(one), more)
    second = asker_of(there, there.owner or user(other), more)
    if standpoint(first, policy) == standpoint(second, policy):
        attendance = Attendance(present)
        seen = [view(session, asker, policy, attendance) for asker in (first, second)]
        assert seen[0] == seen[1]


@given(sessions, sessions, accounts, presences, policies, times, st.booleans())
def test_a_barrier_is_named_exactly_where_something_is_hidden(
    session, here, account, present, policy, at, is_known
):
    asker = asker_of(here, here.owner or user(account))
    attendance = Attendance(present)
    row = fact(session, user("zhang") if is_known else entity("猫"), entity("鱼"), "吃鱼", at=at)
    found = barriers([session], asker, policy, attendance)(row)
    hidden = rank(session, asker, row.layer, at, policy, attendance) is Rank.HIDDEN
    assert (found is not None) == hidden
    if found is Barrier.PERSONA:
        assert session.persona != asker.persona
    if found in (Barrier.AUDIENCE, Barrier.ABSENT):
        assert policy.participants_only
    if found is Barrier.ABSENT:
        assert session.is_group
        assert attendance.windows(session.circle, asker.accounts)
    assert barriers([session], asker, OPEN, attendance)(row) is None
