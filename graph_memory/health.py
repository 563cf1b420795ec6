"""How the memory is doing, and how an admin is told."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from .breaker import Breaker, BreakerState
from .errors import Failure, GraphMemoryError
from .learning import LearningStatus
from .locales import TEXTS, explain, say
from .maintenance import Report
from .store import StorageState
from .token_budget import Account


@dataclass(frozen=True, slots=True)
class Health:
    """How the memory is doing.

    Attributes:
        counts: Rows of each kind, messages, buffered messages, changes, records, and how
            many messages went because they were old (``thinned``).
        graph: State of the graph (``ready``, ``building``, …) and the change it reflects.
        embedder: Name of the model in use; empty while there is none.
        index_items, index_vectors: Documents in the recall index, and how many of them
            have a vector of the model in use.
        storage, storage_kind: Whether messages can be stored, and why not (see
            ``store/connection.py``).
        breakers: Whether ``embedding``, ``learning`` or ``rewriting`` is left alone because
            its model keeps failing.
        problems: What else is wrong, for people.
        spending: What models were asked for today.
    """

    counts: dict[str, int]
    graph: str
    graph_applied: int
    recall_ready: bool
    embedder: str
    index_items: int
    index_vectors: int
    learning: LearningStatus
    upkeep_at: float | None
    upkeep: Report | None
    problems: list[str] = field(default_factory=list)
    storage: StorageState = StorageState.READY
    storage_kind: str = ""
    breakers: dict[str, Breaker] = field(default_factory=dict)
    spending: Account = field(default_factory=Account)


def describe(health: Health, language: str, zone: tzinfo, web: str = "") -> str:
    """What an admin is told.

    Args:
        language: ``zh`` or ``en``.
        web: Where the memory page is; empty if it is off.
    """
    counts, learning = health.counts, health.learning
    never = health.upkeep_at is None or not math.isfinite(health.upkeep_at)
    when = f"{datetime.fromtimestamp(health.upkeep_at or 0.0, zone):%Y-%m-%d %H:%M}"
    lines = [
        say(language, "health_title"),
        say(
            language,
            "health_counts",
            facts=counts.get("fact", 0),
            episodes=counts.get("episode", 0),
            records=counts.get("records", 0),
            messages=counts.get("messages", 0),
            buffered=counts.get("buffered", 0),
        ),
        say(
            language,
            "health_index",
            state=say(language, "ready" if health.recall_ready else "building"),
            items=health.index_items,
            vectors=health.index_vectors,
        ),
        say(language, "health_embedder", name=health.embedder or say(language, "none")),
        say(
            language,
            "health_graph",
            state=say(language, f"graph_{health.graph}"),
            applied=health.graph_applied,
        ),
        say(language, "health_learning", waiting=learning.waiting, dead=learning.dead),
    ]
    if learning.failed:
        lines.append(learning_failure(learning, language))
    lines.append(_spending(health.spending, language))
    thinned = counts.get("thinned", 0)
    when = say(language, "never") if never else when
    lines.append(say(language, "health_upkeep", when=when, thinned=thinned))
    if web:
        lines.append(say(language, "health_web", url=web))
    lines += _troubles(health, language)
    lines += [say(language, "health_problem", problem=problem) for problem in health.problems]
    return "\n".join(lines)


def behind(language: str, recall: str, graph: str, backup: str, *, forgetting: int) -> list[str]:
    """Texts on views and copies that are not up to date, and on who waits."""
    troubles = {"recall": recall, "graph": graph, "backup": backup}
    found = [
        explain(language, GraphMemoryError(text).told(key))
        for key, text in troubles.items()
        if text
    ]
    waiting = [say(language, "error_forgetting", count=forgetting)] if forgetting else []
    return found + waiting


def learning_failure(learning: LearningStatus, language: str) -> str:
    """Which batch failed last, and why."""
    error = say(language, f"failure_{learning.failure}")
    return say(language, "health_error", batch=learning.failed, error=error)


def _spending(account: Account, language: str) -> str:
    """Calls and tokens of today, by purpose."""
    purposes = [
        say(
            language,
            "health_purpose",
            purpose=TEXTS[language].get(f"purpose_{purpose}", purpose),
            calls=cost.calls,
            tokens=cost.tokens,
        )
        for purpose, cost in sorted(account.costs.items())
    ]
    return say(
        language,
        "health_spending",
        purposes=say(language, "list_comma").join(purposes) or say(language, "nothing_spent"),
        tokens=account.tokens,
        limit=account.limit or say(language, "no_limit"),
    )


def _troubles(health: Health, language: str) -> list[str]:
    """What is wrong with the disk and with the models, and what to do."""
    lines = [say(language, f"storage_{health.storage_kind}")] if health.storage_kind else []
    if health.spending.blocked_for:
        lines.append(say(language, "spent", limit=health.spending.limit))
    if count := health.learning.over_share:
        lines.append(say(language, "over_share", count=count))
    for key, breaker in health.breakers.items():
        if breaker.state is not BreakerState.CLOSED:
            lines.append(
                say(
                    language,
                    "breaker",
                    what=say(language, f"breaker_{key}"),
                    failures=breaker.failures,
                    seconds=math.ceil(breaker.retry_in),
                    reason=say(language, f"failure_{Failure.read(breaker.reason)}"),
                )
            )
    return lines
