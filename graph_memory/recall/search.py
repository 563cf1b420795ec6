"""One search: sight, rank, choose, render. No I/O, no clock."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache, partial

from ..model import Asker, Message
from ..ports import Vectors
from ..scope import View
from .choose import Choice, Wish, choose
from .index import Index
from .questions import Part, question
from .rank import SIGNALS, Candidate, Clock, Ranking, rank
from .render import Renderer, wording
from .trace import Reason, Trace, TracedCandidate


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that is reminded of.

    Attributes:
        kind: ``fact``, ``message`` or ``episode``.
        id: Of the fact, message or episode.
        text: The line as shown.
        at: When it was said (an episode: when it began).
        score: Its place in the order; only comparable within one recall.
        session: Session id.
        foreign: Whether it is another persona's.
        messages: Ids of messages that it shows word for word.
    """

    kind: str
    id: str
    text: str
    at: float
    score: float
    session: str
    foreign: bool
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found.

    Attributes:
        items: Best first.
        block: The text to inject; empty if there is nothing to remind of.
    """

    items: tuple[Item, ...]
    block: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the index.

    Attributes:
        views: What the asker may see, by Session id.
        text: What was said.
        query: What to search for.
        vectors, model: Embedding of each part of ``query`` (see :func:`questions.split`),
            and the model they are of.
        parts: Those parts, where they are known.
    """

    asker: Asker
    views: Mapping[str, View]
    text: str
    query: str
    wish: Wish
    vectors: Sequence[Vectors | None] = ()
    model: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Manner:
    """What stays the same from search to search.

    Attributes:
        zone: Of the dates that are shown.
        language: ``zh`` or ``en``, for what is in no language.
        rate: The setting ``time_decay_rate``.
    """

    zone: tzinfo
    language: str = "zh"
    rate: float = 1.0


def search(index: Index, request: Request, manner: Manner, now: float) -> Recall:
    """Find, choose and render what to remind of."""
    started = time.perf_counter()
    sight = index.look(request.views)
    current = index.dense is not None and index.dense.model == request.model
    vectors = request.vectors if current else ()
    asked = question(request.asker, request.query, vectors, request.parts)
    clock = Clock(now, manner.zone, manner.rate)
    wish = request.wish
    ranking = rank(index, sight, asked, clock, limit=wish.limit, profile=wish.profile)
    words = wording(request.text, manner.language)
    renderer = Renderer(index, sight, request.asker, words, manner.zone)
    choice = choose(index, sight, ranking, request.text, wish, renderer.tally())
    block = renderer.block(choice.chosen)
    items = tuple(_item(candidate, renderer.line(candidate)) for candidate in choice.chosen)
    trace = Trace(
        request.asker,
        now,
        request.query,
        ranking.named,
        ranking.visible,
        any(vector is not None for vector in vectors),
        cache(partial(_weighed, ranking, choice)),
        block,
        {"search": round((time.perf_counter() - started) * 1000, 3)},
    )
    return Recall(items, block, trace)


def _item(candidate: Candidate, line: str) -> Item:
    document, source = candidate.document, candidate.document.source
    shown = (source.id,) if isinstance(source, Message) else ()
    return Item(
        document.kind.name.lower(),
        str(source.id),
        line,
        document.at,
        candidate.score,
        source.session,
        candidate.foreign,
        shown,
    )


def _weighed(ranking: Ranking, choice: Choice) -> tuple[TracedCandidate, ...]:
    """All candidates and what became of them; made when somebody looks at the trace."""
    reasons = {candidate.document.key: reason for candidate, reason in choice.dropped}
    chosen = {candidate.document.key for candidate in choice.chosen}
    return tuple(
        TracedCandidate(
            each.document.key,
            each.document.text,
            each.score,
            each.evidence,
            {name: round(value, 4) for name, value in zip(SIGNALS, each.signals, strict=False)},
            None
            if each.document.key in chosen
            else reasons.get(each.document.key, Reason.DUPLICATE),
        )
        for each in ranking.candidates
    )
