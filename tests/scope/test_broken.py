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


def instead(owner: object, name: str, broken: Callable[[Any], Any]) -> Callable[[Bench], None]:
    """Break one thing; ``broken`` makes of what is whole what replaces it."""
    return lambda bench: bench.set(owner, name, broken(getattr(owner, name)))


def hidden_documents_counted(bench: Bench) -> None:
    look, idf = visible.visible_set, ranking.idf
    count = [0]

    def counting(documents: Documents, *more: Any) -> visible.VisibleSet:
        count[0] = len(documents)
        return look(documents, *more)

    bench.everywhere(look, counting)
    bench.everywhere(idf, lambda _, occurrences: idf(count[0], occurrences))


def every_persona(whole: Callable[..., Any]) -> Any:
    def span(row: object) -> tuple[Layer, float, float, bool]:
        layer, *rest = whole(row)
        return (Layer.KNOWS if isinstance(row, Episode) else layer), *rest

    return span


def newest(self: index.Index, id: str, views: object) -> object:
    newer = self._replacing.get(id, {}).values()
    return max(newer, key=lambda fact: (fact.recorded_at, fact.id), default=None)


async def every_follow_up(self: proactive.Proactive, _session: Session) -> list[FollowUp]:
    return proactive.waiting(await self._journal.read(lambda rows: [*rows.scan(FollowUp)]))


def owned(ranked: Callable[..., tuple[list[Fact], dict[str, Rank]]]) -> Any:
    def seen(*given: Any) -> tuple[list[Fact], dict[str, Rank]]:
        facts, ranks = ranked(*given)
        return facts, dict.fromkeys(ranks, Rank.OWN)

    return seen


def all_hops(mine: PersonalIndex, hops: Sequence[Hop]) -> list[Hop]:
    one = mine.index.identities.canonical
    ends = ((hop, one(hop.source), one(hop.target)) for hop in hops)
    return [replace(hop, source=a, target=b) for hop, a, b in ends if a != b]


def walking_all_hops(walk: Callable[..., Any]) -> Any:
    async def walked(*given: Any) -> tuple[lookup.Route, ...]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lookup, "_visible_hops", all_hops)
            return await walk(*given)

    return walked


SEEN = scope.View(ALWAYS, Rank.OWN, Rank.OWN)
EVERY_GROUP = frozenset(chat.circle for chat in CHATS if chat.is_group)
ONE_GROUP = frozenset({makers.group("8").circle, makers.group("7").circle})
GROUP = next(number for number, chat in enumerate(CHATS) if chat.is_group)
BREAKS: dict[str, Callable[[Bench], None]] = {
    # Whoever was in a group once sees all that was ever said there.
    "windows_ignored": instead(
        scope.Attendance, "windows", lambda there: lambda *who: ALWAYS if there(*who) else ()
    ),
    # Leaving is not noticed: from the first message on, for ever.
    "left_is_present": instead(
        scope.Attendance, "windows",
        lambda there: lambda *who: tuple((since, math.inf) for since, _ in there(*who)),
    ),
    # In private, everybody's private chats pass.
    "private_chats_open": instead(
        scope, "_audience", lambda audience: lambda told, asker, *more: (
            audience(told, asker, *more) if asker.is_group or told.is_group else ALWAYS
        ),
    ),
    # What an account of ours has for itself is every bot's.
    "bots_share_private_chats": instead(scope, "home_of", lambda _: lambda circle: ""),
    # A group is told what its speaker said in private.
    "groups_told_private_matters": instead(
        scope, "_audience", lambda audience: lambda told, asker, *more: (
            ALWAYS if told.owner and told.owner in asker.accounts else audience(told, asker, *more)
        ),
    ),
    # A space takes in groups that the owner did not put into it.
    "spaces_of_all_groups": instead(scope.Policy, "space", lambda _: lambda *_: EVERY_GROUP),
    # The persona test is left out for summaries of episodes.
    "episodes_of_every_persona": lambda bench: bench.everywhere(
        scope.span, every_persona(scope.span)
    ),
    # Isolated personas share what is known about people after all.
    "isolation_forgets_people": instead(
        scope, "_persona", lambda persona: lambda *which: (Rank.OWN, persona(*which)[1])
    ),
    # What ``cross_persona_search`` lets in passes as the persona's own.
    "foreign_without_mark": instead(
        scope, "_persona", lambda persona: lambda *which: tuple(
            Rank.OWN if rank is Rank.FOREIGN else rank for rank in persona(*which)
        ),
    ),
    # A newer row makes an older one outdated for people who may not see the newer one.
    "replaced_by_the_unseen": instead(index.Index, "replaced_by", lambda _: newest),
    # Names count that were used where the asker was not.
    "names_of_hidden_sessions": instead(
        index, "_shows", lambda shows: lambda views, row: (
            Rank.OWN if isinstance(row, Name) else shows(views, row)
        ),
    ),
    # How rare a word is depends on how many documents there are, hidden ones included.
    "hidden_documents_counted": hidden_documents_counted,
    # What is offered to the model that learns is not limited to the batch's Session.
    "learner_sees_all": instead(LearnerRows, "shows", lambda _: lambda *_: True),
    # Records of all Sessions are looked through.
    "records_of_every_session": instead(
        transcripts.Transcripts, "_own",
        lambda _: lambda self, asker: dict.fromkeys(self._recall._views._sessions, SEEN),
    ),
    # What is meant for others is told as well.
    "follow_ups_of_every_session": instead(
        proactive.Proactive, "standing", lambda _: every_follow_up
    ),
    # The page on which the owner views as somebody lists every fact.
    "viewing_as_somebody_sees_all": instead(view_as, "_ranked", owned),
    # What is central in the graph, and joins groups, is told from all facts of a Session.
    "neighbours_that_are_hidden": instead(lookup, "_visible_hops", lambda _: all_hops),
    # Paths along the graph pass facts that the asker may not read; those stay untold.
    "walks_through_what_is_hidden": instead(lookup.Lookup, "_walk", walking_all_hops),
}  # fmt: skip
RULES = {
    "spaces_of_all_groups": Rules(space=ONE_GROUP), "isolation_forgets_people": Rules("isolated"),
    "foreign_without_mark": Rules("layered", cross_persona=True),
}  # fmt: skip
"""The settings under which a break can show, if not the usual ones."""


GONE = [
    Say(GROUP, 0, "小红喜欢吃花生", "小红", 60.0),
    Leave(GROUP, 0),
    Say(GROUP, 1, "张三住在西安", "张三", 60.0),
]
"""Put before and after what is drawn for those breaks that only show to one who has left."""
FOR_THE_LEFT = ("windows_ignored", "left_is_present")
ON_THE_GRAPH = ("neighbours_that_are_hidden", "walks_through_what_is_hidden")
"""Breaks that show only where there is a graph."""
RARE = {"walks_through_what_is_hidden": 12}
"""What to begin with for a break that few histories show."""


def focused(trial: Trial, broken: str) -> Trial:
    """A trial under the settings, and in the situation, in which a break can show."""
    trial = replace(trial, rules=RULES.get(broken, Rules()), walks=broken in ON_THE_GRAPH)
    if broken not in FOR_THE_LEFT:
        return trial
    asks = [replace(ask, chat=CHATS[0]) for ask in trial.asks]
    return replace(trial, asks=asks, steps=[GONE[0], *trial.steps, *GONE[1:]])


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_scope_is_noticed(broken: str) -> None:
    search = lambda trial: run(focused(trial, broken))  # noqa: E731
    assert notices(BREAKS[broken], search, TRIALS, trials, begin=RARE.get(broken, 1))


@pytest.mark.parametrize("broken", RARE)
def test_what_is_whole_is_not_taken_for_broken(broken: str) -> None:
    def whole(trial: Trial) -> None:
        run(focused(trial, broken))

    assert not notices(lambda _: None, whole, 4, trials, begin=RARE[broken])
