"""Scopes that are broken on purpose: non-interference has to notice each of them.

A property that nothing can violate proves nothing. Each test here breaks one rule in the
running code, and the same search over the same kind of histories has to find one in which
somebody is given what they may not see, or feels that it is there.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from graph_memory.companion import FollowUp, proactive, transcripts
from graph_memory.graph.graph_queries import Hop
from graph_memory.inspect import lookup, view_as
from graph_memory.model import Episode, Fact, Layer, Name, Session
from graph_memory.privacy import scope
from graph_memory.privacy.scope import ALWAYS, Rank
from graph_memory.recall import PersonalIndex, index, ranking, visible
from graph_memory.recall.documents import Documents
from graph_memory.visible_rows import LearnerRows

from .. import makers
from .histories import CHATS, Leave, Say
from .oracle import Rules
from .trial import Trial, run, trials

pytestmark = pytest.mark.slow

TRIALS = 40
"""Histories among which one has to show it; most breaks show in the first few."""


class NoticedError(Exception):
    """The property does not hold."""


class Bench:
    """What breaks things; they are whole again after the test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def set(self, owner: object, name: str, broken: object) -> None:
        """Replace an attribute."""
        self._patch.setattr(owner, name, broken)

    def everywhere(self, function: Callable[..., object], broken: object) -> None:
        """Replace a function in every module that imported it by name."""
        for key, module in list(sys.modules.items()):
            if key.startswith("graph_memory"):
                for name, value in list(vars(module).items()):
                    if value is function:
                        self._patch.setattr(module, name, broken)


def notices(
    broken: Callable[[Bench], None],
    run: Callable[..., None],
    examples: int,
    *drawn: st.SearchStrategy[Any],
    begin: int = 1,
) -> bool:
    """Whether ``run`` fails with something broken, for one of some examples.

    Args:
        begin: What they are drawn from; with some a break shows in the first few.
    """

    @seed(begin)
    @settings(max_examples=examples, phases=[Phase.generate], database=None)
    @given(st.tuples(*drawn))
    def search(example: tuple[Any, ...]) -> None:
        try:
            run(*example)
        except AssertionError as error:
            raise NoticedError from error

    with pytest.MonkeyPatch.context() as patch:
        broken(Bench(patch))
        try:
            search()
        except NoticedError:
            return True
    return False


def windows_ignored(bench: Bench) -> None:
    """Whoever was in a group once sees all that was ever said there."""
    there = scope.Attendance.windows
    bench.set(
        scope.Attendance,
        "windows",
        lambda self, circle, accounts: ALWAYS if there(self, circle, accounts) else (),
    )


def left_is_present(bench: Bench) -> None:
    """Leaving is not noticed: from the first message on, for ever."""
    there = scope.Attendance.windows
    bench.set(
        scope.Attendance,
        "windows",
        lambda self, circle, accounts: tuple(
            (since, math.inf) for since, _ in there(self, circle, accounts)
        ),
    )


def private_chats_open(bench: Bench) -> None:
    """In private, everybody's private chats pass."""
    audience = scope._audience
    bench.set(
        scope,
        "_audience",
        lambda session, asker, policy, attendance: (
            ALWAYS
            if not asker.is_group and not session.is_group
            else audience(session, asker, policy, attendance)
        ),
    )


def bots_share_private_chats(bench: Bench) -> None:
    """What an account of ours has for itself is every bot's."""
    bench.set(scope, "home_of", lambda circle: "")


def groups_told_private_matters(bench: Bench) -> None:
    """A group is told what its speaker said in private."""
    audience = scope._audience
    bench.set(
        scope,
        "_audience",
        lambda session, asker, policy, attendance: (
            ALWAYS
            if session.owner and session.owner in asker.accounts
            else audience(session, asker, policy, attendance)
        ),
    )


def spaces_of_all_groups(bench: Bench) -> None:
    """A space takes in groups that the owner did not put into it."""
    bench.set(scope.Policy, "space", lambda self, circle: EVERY_GROUP)


def episodes_of_every_persona(bench: Bench) -> None:
    """The persona test is left out for summaries of episodes."""
    whole = scope.span

    def span(row: object) -> tuple[Layer, float, float, bool]:
        layer, *rest = whole(row)  # type: ignore[arg-type]
        return (Layer.KNOWS if isinstance(row, Episode) else layer), *rest

    bench.everywhere(whole, span)


def isolation_forgets_people(bench: Bench) -> None:
    """Isolated personas share what is known about people after all."""
    persona = scope._persona

    def shared(same: bool, policy: scope.Policy) -> tuple[Rank, Rank]:
        return Rank.OWN, persona(same, policy)[1]

    bench.set(scope, "_persona", shared)


def foreign_without_mark(bench: Bench) -> None:
    """What ``cross_persona_search`` lets in passes as the persona's own."""
    persona = scope._persona

    def unmarked(same: bool, policy: scope.Policy) -> tuple[Rank, Rank]:
        knows, rest = persona(same, policy)
        return (
            Rank.OWN if knows is Rank.FOREIGN else knows,
            Rank.OWN if rest is Rank.FOREIGN else rest,
        )

    bench.set(scope, "_persona", unmarked)


def replaced_by_the_unseen(bench: Bench) -> None:
    """A newer row makes an older one outdated for people who may not see the newer one."""

    def replaced_by(self: index.Index, id: str, views: object) -> object:
        newer = self._replacing.get(id, {}).values()
        return max(newer, key=lambda fact: (fact.recorded_at, fact.id), default=None)

    bench.set(index.Index, "replaced_by", replaced_by)


def names_of_hidden_sessions(bench: Bench) -> None:
    """Names count that were used where the asker was not."""
    shows = index._shows
    bench.set(
        index, "_shows", lambda views, row: Rank.OWN if isinstance(row, Name) else shows(views, row)
    )


def hidden_documents_counted(bench: Bench) -> None:
    """How rare a word is depends on how many documents there are, hidden ones included."""
    look, idf = visible.visible_set, ranking.idf
    count = [0]

    def counting(documents: Documents, *more: Any) -> visible.VisibleSet:
        count[0] = len(documents)
        return look(documents, *more)

    bench.everywhere(look, counting)
    bench.everywhere(idf, lambda _, occurrences: idf(count[0], occurrences))


def learner_sees_all(bench: Bench) -> None:
    """What is offered to the model that learns is not limited to the batch's Session."""
    bench.set(LearnerRows, "shows", lambda self, row: True)


def records_of_every_session(bench: Bench) -> None:
    """Records of all Sessions are looked through."""
    bench.set(
        transcripts.Transcripts,
        "_own",
        lambda self, asker: {
            id: scope.View(ALWAYS, Rank.OWN, Rank.OWN) for id in self._recall._views._sessions
        },
    )


def follow_ups_of_every_session(bench: Bench) -> None:
    """What is meant for others is told as well."""

    async def standing(self: proactive.Proactive, _session: Session) -> list[FollowUp]:
        return proactive.waiting(await self._journal.read(lambda rows: [*rows.scan(FollowUp)]))

    bench.set(proactive.Proactive, "standing", standing)


def viewing_as_somebody_sees_all(bench: Bench) -> None:
    """The page on which the owner views as somebody lists every fact."""
    ranked = view_as._ranked

    def seen(own: index.Index, shown: visible.VisibleSet) -> tuple[list[Fact], dict[str, Rank]]:
        facts, ranks = ranked(own, shown)
        return facts, dict.fromkeys(ranks, Rank.OWN)

    bench.set(view_as, "_ranked", seen)


def all_hops(mine: PersonalIndex, hops: Sequence[Hop]) -> list[Hop]:
    one = mine.index.identities.canonical
    ends = ((hop, one(hop.source), one(hop.target)) for hop in hops)
    return [replace(hop, source=a, target=b) for hop, a, b in ends if a != b]


def neighbours_that_are_hidden(bench: Bench) -> None:
    """What is central in the graph, and joins groups, is told from all facts of a Session."""
    bench.set(lookup, "_visible_hops", all_hops)


def walks_through_what_is_hidden(bench: Bench) -> None:
    """Paths along the graph pass facts that the asker may not read; those stay untold."""
    walk = lookup.Lookup._walk

    async def walked(self: lookup.Lookup, *given: Any) -> tuple[lookup.Route, ...]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lookup, "_visible_hops", all_hops)
            return await walk(self, *given)

    bench.set(lookup.Lookup, "_walk", walked)


LAYERED = Rules()
EVERY_GROUP = frozenset(chat.circle for chat in CHATS if chat.is_group)
ONE_GROUP = frozenset({makers.group("8").circle, makers.group("7").circle})
GROUP = next(number for number, chat in enumerate(CHATS) if chat.is_group)
BREAKS: dict[Callable[[Bench], None], Rules] = {
    windows_ignored: LAYERED, left_is_present: LAYERED, private_chats_open: LAYERED,
    bots_share_private_chats: LAYERED, groups_told_private_matters: LAYERED,
    spaces_of_all_groups: Rules(space=ONE_GROUP), episodes_of_every_persona: LAYERED,
    isolation_forgets_people: Rules("isolated"),
    foreign_without_mark: Rules("layered", cross_persona=True), replaced_by_the_unseen: LAYERED,
    names_of_hidden_sessions: LAYERED, hidden_documents_counted: LAYERED, learner_sees_all: LAYERED,
    records_of_every_session: LAYERED, follow_ups_of_every_session: LAYERED,
    viewing_as_somebody_sees_all: LAYERED, neighbours_that_are_hidden: LAYERED,
    walks_through_what_is_hidden: LAYERED,
}  # fmt: skip
"""With the settings under which each can show."""


GONE = [
    Say(GROUP, 0, "小红喜欢吃花生", "小红", 60.0),
    Leave(GROUP, 0),
    Say(GROUP, 1, "张三住在西安", "张三", 60.0),
]
"""Put before and after what is drawn for those breaks that only show to one who has left."""
FOR_THE_LEFT = (windows_ignored, left_is_present)
ON_THE_GRAPH = (neighbours_that_are_hidden, walks_through_what_is_hidden)
"""Breaks that show only where there is a graph."""
RARE = {walks_through_what_is_hidden: 12}
"""What to begin with for a break that few histories show."""


def focused(trial: Trial, broken: Callable[[Bench], None]) -> Trial:
    """A trial under the settings, and in the situation, in which a break can show."""
    trial = replace(trial, rules=BREAKS[broken], walks=broken in ON_THE_GRAPH)
    if broken not in FOR_THE_LEFT:
        return trial
    asks = [replace(ask, chat=CHATS[0]) for ask in trial.asks]
    return replace(trial, asks=asks, steps=[GONE[0], *trial.steps, *GONE[1:]])


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.__name__)
def test_a_broken_scope_is_noticed(broken: Callable[[Bench], None]) -> None:
    begin = RARE.get(broken, 1)
    assert notices(broken, lambda trial: run(focused(trial, broken)), TRIALS, trials, begin=begin)


@pytest.mark.parametrize("broken", RARE, ids=lambda broken: broken.__name__)
def test_what_is_whole_is_not_taken_for_broken(broken: Callable[[Bench], None]) -> None:
    def whole(trial: Trial) -> None:
        run(focused(trial, broken))

    assert not notices(lambda _: None, whole, 4, trials, begin=RARE[broken])
