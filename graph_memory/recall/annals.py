"""Records of days, weeks, months and years, for questions about a time as a whole.

"那年夏天我们聊了什么", "what did we talk about last month". Records are no documents: nothing
else is ranked against them, so to all other questions it is as if there were none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import tzinfo

from ..dates import past_periods
from ..model import Episode
from ..scope import Rank, View, span

MOST = 4
"""Records that one question is answered with."""
FITTING = 0.8
"""Share of a record's time that has to be within the time that is asked about."""

_ASKED = re.compile(
    r"(?:聊|谈|说|讲|讨论|发生|经历|干|做|忙)(?:过|了|到|起|的)?(?:都|些|一些|是)?(?:什么|啥|哪些)"
    r"|(?:什么|啥|哪些)(?:事|话题)|回顾|总结"
    r"|\bwhat (?:did|have|had|were|was|do) (?:we|you|i|they|everyone)\b.{0,30}?"
    r"\b(?:talk|chat|discuss|do|doing|say|said)"
    r"|\bwhat (?:we|i) (?:talked|did|discussed)|\bwhat (?:has )?happened|\brecap\b|\bsummar",
    re.IGNORECASE,
)


class Annals:
    """The records that have words, by Session."""

    def __init__(self) -> None:
        self._sessions: dict[str, dict[str, Episode]] = defaultdict(dict)
        self._places: dict[str, str] = {}

    def put(self, record: Episode) -> None:
        """Enter a record or its newer state; one without words is taken out."""
        self.drop(record.id)
        if record.summary:
            self._sessions[record.session][record.id] = record
            self._places[record.id] = record.session

    def drop(self, id: str) -> None:
        """Take a record out; harmless if it is not there."""
        session = self._places.pop(id, None)
        if session is not None:
            del self._sessions[session][id]

    def get(self, id: str, views: Mapping[str, View]) -> Episode | None:
        """A record that may be seen."""
        record = self._sessions.get(self._places.get(id, ""), {}).get(id)
        return record if record and _rank(record, views) is not Rank.HIDDEN else None

    def asked(
        self, text: str, views: Mapping[str, View], now: float, zone: tzinfo
    ) -> list[tuple[Episode, Rank]]:
        """The visible records that tell of the time that a question is about, fewest first:
        rather a year than its months. Those of most messages, in the order of time.
        """
        if not _ASKED.search(text):
            return []
        chosen: list[tuple[Episode, Rank]] = []
        for since, until in past_periods(text, now, zone):
            found = self._within(since, until, views)
            chosen = [*chosen, *(each for each in found if each not in chosen)]
        chosen.sort(key=lambda each: (-each[1], -each[0].messages, each[0].id))
        return sorted(chosen[:MOST], key=lambda each: (-each[1], each[0].started_at, each[0].id))

    def _within(
        self, since: float, until: float, views: Mapping[str, View]
    ) -> Iterator[tuple[Episode, Rank]]:
        for session in views:
            inside = [
                (record, rank)
                for record in self._sessions.get(session, {}).values()
                if _share(record, since, until) >= FITTING
                and (rank := _rank(record, views)) is not Rank.HIDDEN
            ]
            taken: list[Episode] = []
            for record, rank in sorted(inside, key=lambda each: (-_length(each[0]), each[0].id)):
                if all(_share(record, t.started_at, t.ended_at) < FITTING for t in taken):
                    taken.append(record)
                    yield record, rank


def _rank(record: Episode, views: Mapping[str, View]) -> Rank:
    view = views.get(record.session)
    return view.rank(*span(record)) if view else Rank.HIDDEN


def _length(record: Episode) -> float:
    return record.ended_at - record.started_at


def _share(record: Episode, since: float, until: float) -> float:
    """How much of a record's time is within another."""
    common = min(record.ended_at, until) - max(record.started_at, since)
    return max(0.0, common) / max(1.0, _length(record))
