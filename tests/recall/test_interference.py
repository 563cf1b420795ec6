"""Non-interference: what cannot be seen cannot be felt."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graph_memory.identity import Identities
from graph_memory.model import (
    Asker,
    Fact,
    Forgotten,
    Link,
    Merge,
    Message,
    Name,
    Row,
    Session,
    asker_of,
)
from graph_memory.privacy.scope import Attendance, Policy, Rank, Sharing, View, span, view
from graph_memory.recall.index import Index
from graph_memory.recall.query import Question, RecallOptions, split
from graph_memory.recall.ranking import SearchContext
from graph_memory.recall.recaller import Recall, search
from tests.makers import CHINA, T0

from .hashing import vector
from .histories import (
    MODEL,
    SESSIONS,
    USERS,
    History,
    followed,
    histories,
    index_of,
    merges,
    sentences,
)

pytestmark = pytest.mark.slow

askers = st.builds(
    lambda session, user: asker_of(session, session.owner or user),
    st.sampled_from(SESSIONS),
    st.sampled_from(USERS),
)
policies = st.builds(
    Policy, st.sampled_from(list(Sharing)), st.booleans(), st.sampled_from([True, True, False])
)


def views_of(history: History, asker: Asker, policy: Policy) -> dict[str, View]:
    attendance = Attendance(history.presences)
    seen = {session.id: view(session, asker, policy, attendance) for session in SESSIONS}
    return {id: each for id, each in seen.items() if each}


def linked(history: History, asker: Asker) -> Asker:
    """The asker with the accounts that are linked in the end."""
    rows = (row for row in history.final() if isinstance(row, Link))
    assert asker.user
    return replace(asker, accounts=Identities(rows).accounts(asker.user))


def recall(index: Index, views: dict[str, View], asker: Asker, text: str) -> Recall:
    wish, context = RecallOptions(limit=6, budget=400), SearchContext(T0 + 90_000, CHINA)
    return search(index, views, question(asker, text), wish, context)


def question(asker: Asker, text: str) -> Question:
    """A text with its vectors."""
    parts = split(text)
    return Question(asker, text, text, parts, [vector(part.text) for part in parts], MODEL)


def shows(views: dict[str, View], row: Row | Message) -> bool:
    if isinstance(row, Session | Merge | Link):
        return True
    if isinstance(row, Forgotten):
        return row.session in views
    seen = views.get(getattr(row, "session", ""))
    return seen is not None and seen.rank(*span(row)) is not Rank.HIDDEN


@settings(max_examples=250)
@given(histories(), askers, policies, sentences)
def test_invisible_rows_change_nothing(history, asker, policy, text):
    asker = linked(history, asker)
    views = views_of(history, asker, policy)
    stripped = [row for row in history.final() if shows(views, row)]
    full = recall(index_of(history.steps), views, asker, text)
    alone = recall(index_of(stripped), views, asker, text)
    assert [(i.kind, i.id, i.text, i.score) for i in full.items] == [
        (i.kind, i.id, i.text, i.score) for i in alone.items
    ]
    assert full.block == alone.block
    assert full.trace.candidates == alone.trace.candidates
    assert full.trace.visible == alone.trace.visible


def nodes_of(row: Row | Message) -> set[str]:
    match row:
        case Fact():
            return {row.subject, row.object}
        case Name():
            return {row.node}
        case _:
            return set()


@settings(max_examples=250)
@given(histories(), merges, askers, policies, sentences)
def test_who_sees_only_one_of_two_that_are_merged_is_told_the_same(
    history, merge, asker, policy, text
):
    asker = linked(history, asker)
    views = views_of(history, asker, policy)
    apart = [row for row in history.steps if not isinstance(row, Merge)]
    seen = {n for row in history.final() if shows(views, row) for n in nodes_of(row)}
    assume(not {merge.node, merge.into} <= seen)
    before = recall(index_of(apart), views, asker, text)
    after = recall(index_of([*apart, merge]), views, asker, text)
    assert before.block == after.block
    assert before.items == after.items
    assert before.trace.candidates == after.trace.candidates
    assert before.trace.named == after.trace.named


@settings(max_examples=100)
@given(histories(), merges, askers, policies, sentences)
def test_a_split_takes_apart_what_was_merged(history, merge, asker, policy, text):
    views = views_of(history, asker, policy)
    apart = [row for row in history.steps if not isinstance(row, Merge)]
    index = index_of([*apart, merge])
    index.drop(Merge.kind, merge.id)
    before = recall(index_of(apart), views, asker, text)
    after = recall(index, views, asker, text)
    assert before.block == after.block
    assert before.trace.candidates == after.trace.candidates


@given(histories(), askers, policies)
def test_sight_agrees_with_scope_row_by_row(history: History, asker: Asker, policy: Policy) -> None:
    views = views_of(history, asker, policy)
    index = index_of(history.steps)
    sight = index.visible(views)
    seen = {
        index.documents[int(number)].key: bool(foreign)
        for number, foreign in zip(sight.numbers, sight.foreign, strict=True)
    }
    gone = {row.message for row in history.steps if isinstance(row, Forgotten)}
    for number in index.documents.numbers():
        document = index.documents[number]
        at = views.get(document.source.session)
        rank = at.rank(*span(document.source)) if at else Rank.HIDDEN
        if isinstance(document.source, Message) and document.source.id in gone:
            rank = Rank.HIDDEN
        assert seen.get(document.key) == (None if rank is Rank.HIDDEN else rank is Rank.FOREIGN)


@given(histories(), sentences)
def test_an_index_that_followed_equals_one_that_was_built(history: History, text: str) -> None:
    everybody = Policy(Sharing.SHARED, participants_only=False)
    asker = asker_of(SESSIONS[0], USERS[0])
    views = views_of(history, asker, everybody)
    followed = recall(index_of(history.steps), views, asker, text)
    built = recall(index_of(history.final()), views, asker, text)
    assert followed.block == built.block
    assert followed.trace.candidates == built.trace.candidates


@given(histories(), st.lists(askers, min_size=1, max_size=3), policies, sentences)
def test_an_index_that_was_asked_all_along_equals_one_that_was_built(
    history, several, policy, text
):
    """What is kept from question to question is never stale."""
    seen = [(asker, views_of(history, asker, policy)) for asker in several]
    index = Index()
    for _ in followed(index, history.steps):
        for _, views in seen:
            index.visible(views)
    for asker, views in seen:
        asked = recall(index, views, asker, text)
        built = recall(index_of(history.final()), dict(views), asker, text)
        assert asked.block == built.block
        assert asked.trace.candidates == built.trace.candidates
        assert asked.trace.visible == built.trace.visible
