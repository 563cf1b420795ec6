"""Health of the memory: how it is doing, and its examination (``/memory doctor``).

The journal is mended where nothing can be lost by it; its views are rebuilt in any case.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial

from ..coordination import FAR
from ..dates import moment
from ..errors import Failure, GraphError, GraphMemoryError, JournalError
from ..graph import GraphState, GraphStore
from ..inference.breaker import Breaker, BreakerState
from ..inference.token_budget import Account
from ..learning import LearningStatus
from ..locales import TEXTS, explain, say
from ..recall import Recaller
from ..store import MENDABLE, Journal, examine, mend
from ..store.postgres import Bot
from ..supervisor import Progress

logger = logging.getLogger("graph_memory.inspect")

EXAMPLES = 5
"""Cases of a fault that are named in the log."""
REBUILT_AFTER = 120.0
"""Seconds that building a view anew may take."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the memory is doing.

    Attributes:
        counts: Rows of each kind, messages, buffered messages, changes, records, and
            messages that were deleted as old (``thinned``).
        upkeep_at: When the last run ended; ``None`` if there was none.
        embedder: Name of the model in use; may be empty.
        is_loading: Whether there will be one in a moment.
        bots: The other bots on the memory.
        breakers: By ``embedding``, ``learning`` or ``reranking``.
    """

    journal: Journal
    recall: Recaller
    graph: GraphStore
    counts: dict[str, int]
    learning: LearningStatus
    spending: Account
    upkeep_at: float | None
    embedder: str
    is_loading: bool
    bots: Sequence[Bot]
    breakers: dict[str, Breaker]
    problems: list[Exception]


def describe(health: Health, language: str, zone: tzinfo, web: str = "") -> str:
    """What an admin is told; ``web`` is the memory page, empty if it is off."""
    tell = partial(say, language)
    counts, learning = health.counts, health.learning
    when = tell("never")
    if health.upkeep_at is not None and math.isfinite(health.upkeep_at):
        when = moment(health.upkeep_at, zone)
    without = tell("loading" if health.is_loading else "none")
    lines = [
        tell("health_title"),
        tell("health_counts", **{"fact": 0, "episode": 0, **counts}),
        tell(
            "health_index",
            state=tell("ready" if health.recall.ready else "building"),
            items=health.recall.items,
            vectors=health.recall.vectors,
        ),
        tell("health_embedder", name=health.embedder or without),
        _graph(health, language),
        tell("health_learning", waiting=learning.waiting, dead=learning.dead),
    ]
    if learning.failed:
        lines.append(learning_failure(learning, language))
    lines.append(_spending(health.spending, language))
    unsent = health.journal.waiting_messages
    if health.bots or unsent:
        silent = sum(bot.silent > FAR for bot in health.bots)
        shared = {"count": len(health.bots), "silent": silent, "unsent": unsent}
        lines.append(tell("health_shared", **shared))
    lines.append(tell("health_upkeep", when=when, thinned=counts.get("thinned", 0)))
    if web:
        lines.append(tell("health_web", url=web))
    lines += _troubles(health, language)
    problems = (explain(language, each) for each in health.problems)
    return "\n".join([*lines, *(tell("health_problem", problem=each) for each in problems)])


def _graph(health: Health, language: str) -> str:
    graph = health.graph
    state = say(language, f"graph_{graph.state}")
    key = "health_graphless" if graph.state is GraphState.ABSENT else "health_graph"
    return say(language, key, state=state, applied=graph.applied)


def behind(recall: str, graph: str, backup: str, *, forgetting: int) -> list[GraphMemoryError]:
    """What is not up to date, and that somebody waits to be forgotten."""
    waiting = "somebody waits to be forgotten" if forgetting else ""
    troubles = {"recall": recall, "graph": graph, "backup": backup, "forgetting": waiting}
    found = ((key, GraphMemoryError(text)) for key, text in troubles.items() if text)
    return [error.told(key, count=forgetting) for key, error in found]


def learning_failure(learning: LearningStatus, language: str) -> str:
    """Which batch failed last, and why."""
    error = say(language, f"failure.{learning.failure}")
    return say(language, "health_error", batch=learning.failed, error=error)


def _spending(account: Account, language: str) -> str:
    """Calls and tokens of today, by purpose."""
    tell = partial(say, language)
    purposes = []
    for key, cost in sorted(account.costs.items()):
        purpose = TEXTS[language].get(f"purpose.{key}", key)
        purposes.append(
            tell("health_purpose", purpose=purpose, calls=cost.calls, tokens=cost.tokens)
        )
    return tell(
        "health_spending",
        purposes=tell("list_comma").join(purposes) or tell("nothing_spent"),
        tokens=account.tokens,
        limit=account.limit or tell("no_limit"),
    )


def _troubles(health: Health, language: str) -> list[str]:
    """What is wrong with the disk and with the models, and what to do."""
    tell = partial(say, language)
    kind = health.journal.storage.kind
    lines = [tell(f"storage_{kind}")] if kind else []
    if health.spending.blocked_for:
        lines.append(tell("spent", limit=health.spending.limit))
    if count := health.learning.held:
        lines.append(tell("over_share", count=count))
    for key, breaker in health.breakers.items():
        if breaker.state is not BreakerState.CLOSED:
            lines.append(
                tell(
                    "breaker",
                    what=tell(f"breaker.{key}"),
                    failures=breaker.failures,
                    seconds=math.ceil(breaker.retry_in),
                    reason=tell(f"failure.{Failure.read(breaker.reason)}"),
                )
            )
    return lines


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was wrong, and whether it is right now.

    ``code`` is that of a journal's fault (``store/contents.py``), or ``journal_away``,
    ``graph_away``, ``graph_absent``, ``index_away``.
    """

    code: str
    count: int
    detail: str
    is_mended: bool


ABSENT = Finding("graph_absent", 1, "kuzu and ladybug cannot be imported", is_mended=False)


@dataclass(frozen=True, slots=True)
class Checkup:
    """What an examination found, and how many ``seconds`` it took.

    ``vectors`` of the ``documents`` had a vector before; ``changes`` are those in the graph.
    """

    findings: tuple[Finding, ...]
    documents: int
    vectors: int
    changes: int
    seconds: float


async def check_up(
    journal: Journal, graph: GraphStore, recall: Recaller, steps: Progress
) -> Checkup:
    """Mend the journal and rebuild its views; the memory is in use meanwhile."""
    started, vectors, findings = time.monotonic(), recall.vectors, list[Finding]()
    work = (
        partial(_examine_journal, journal),
        partial(_rebuild, "graph", graph.rebuild),
        partial(_rebuild, "index", recall.rebuild),
    )
    with journal.long_work():
        steps.take(0, len(work))
        for step in work:
            findings += await step()
            steps.take(1)
    findings += [ABSENT] if graph.state is GraphState.ABSENT else []
    for each in findings:
        outcome = "mended" if each.is_mended else "not mended"
        logger.warning("%s: %d (%s), %s", each.code, each.count, each.detail, outcome)
    seconds = time.monotonic() - started
    return Checkup(tuple(findings), recall.items, vectors, graph.applied, seconds)


async def _examine_journal(journal: Journal) -> list[Finding]:
    try:
        faults = left = await journal.survey(examine)
        if faults.keys() & MENDABLE:
            await journal.alter(lambda db, _: mend(db))
            left = await journal.survey(examine)
    except JournalError as error:
        return [Finding("journal_away", 1, str(error), is_mended=False)]
    return [
        Finding(code, len(cases), ", ".join(cases[:EXAMPLES]), is_mended=code not in left)
        for code, cases in faults.items()
    ]


async def _rebuild(view: str, rebuild: Callable[[], Awaitable[object]]) -> list[Finding]:
    try:
        async with asyncio.timeout(REBUILT_AFTER):
            await rebuild()
    except (GraphError, JournalError, TimeoutError) as error:
        return [Finding(f"{view}_away", 1, str(error) or "too slow", is_mended=False)]
    return []
