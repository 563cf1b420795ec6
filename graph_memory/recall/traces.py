"""Traces of recall: what was weighed for a reply, for days and over a restart.

The file holds ids and figures, no words: what a trace shows is read from what is still there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sqlite3
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ..context import Context
from ..data_directory import writing
from ..errors import JournalError
from ..model import Asker, Erased
from ..privacy.redaction import disclosed
from ..privacy.scope import View
from ..retention import DAY
from ..store import Event
from ..store.messages import by_ids
from ..supervisor import Supervisor
from .index import Index
from .index_sync import IndexSync
from .query import compose
from .selection import Reason

logger = logging.getLogger("graph_memory.recall")

KEPT = 8
"""Traces kept of each circle."""
CIRCLES = 200
"""Circles of which traces are kept; the one silent longest goes first."""
FILE = "traces.json"
VERSION = 1
STORED = 200
"""Newest traces that survive a restart, some 2 kB each."""
DAYS = 7.0
"""Days for which they do."""
QUIET, LONGEST = 60.0, 600.0
"""Seconds without a recall before traces are written, and how long they wait at most."""


class TracedCandidate(NamedTuple):
    """A candidate (``ranking.Candidate``) and why it was ``dropped``, if it was."""

    id: str
    text: str
    score: float
    evidence: float
    signals: dict[str, float]
    dropped: Reason | None


@dataclass(frozen=True, slots=True)
class Trace:
    """One recall and how it came about.

    Attributes:
        named: Nodes that the query names, with the name.
        visible: How many documents the asker may be reminded of.
        embedded: Whether the meaning of the query was known in time.
        weigh: Makes ``candidates``, which few traces are asked for.
        timing: Milliseconds by step.
        message: Id of the message that asked; 0 if it is not stored.
        newest: Id of the newest message that may have mattered; 0 if that is not known.
        lost: How many candidates are no longer there (:func:`reread`).
        is_old: Whether it is from before the last start; its block is not kept.
    """

    asker: Asker
    at: float
    query: str = ""
    named: dict[str, str] = field(default_factory=dict)
    visible: int = 0
    embedded: bool = False
    weigh: Callable[[], tuple[TracedCandidate, ...]] = tuple
    block: str = ""
    timing: dict[str, float] = field(default_factory=dict)
    problem: str = ""
    message: int = 0
    newest: int = 0
    lost: int = 0
    is_old: bool = False

    @property
    def candidates(self) -> tuple[TracedCandidate, ...]:
        """What was weighed, best first; only what the asker may see."""
        return self.weigh()


class Traces:
    """The last traces of each circle.

    Attributes:
        added: How many there have been since the start.
    """

    def __init__(self) -> None:
        self.added = 0
        self._circles: OrderedDict[str, deque[Trace]] = OrderedDict()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Have ``listener`` called when there is another one."""
        self._listeners.append(listener)

    def add(self, trace: Trace, message: int | None) -> None:
        """Keep one with the message that asked, or without words if that is not kept."""
        if message:
            newest = max(trace.newest, message) if trace.newest else 0
            trace = replace(trace, message=message, newest=newest)
        elif message is not None:
            trace = replace(trace, query="")
        self.put(trace)
        self.added += 1
        for listener in self._listeners:
            listener()

    def put(self, trace: Trace) -> None:
        """Keep a trace that is nothing new."""
        kept = self._circles.setdefault(trace.asker.circle, deque(maxlen=KEPT))
        kept.append(trace)
        self._circles.move_to_end(trace.asker.circle)
        while len(self._circles) > CIRCLES:
            self._circles.popitem(last=False)

    def of(self, circle: str) -> list[Trace]:
        """Traces of a circle, newest first."""
        return list(reversed(self._circles.get(circle, ())))

    def recent(self) -> list[Trace]:
        """Traces of all circles, newest first."""
        kept = (trace for traces in self._circles.values() for trace in traces)
        return sorted(kept, key=lambda trace: trace.at, reverse=True)

    def erase(self, event: Erased) -> bool:
        """Forget what may rest on messages that are gone; whether anything did.

        A trace knows nothing of what was said after it. Messages that were thinned out for
        their age leave figures that nobody asked to have forgotten.
        """
        left = [trace for trace in self.recent() if not _rests_on(trace, event)]
        is_less = len(left) < sum(map(len, self._circles.values()))
        self.clear()
        for trace in reversed(left):
            self.put(trace)
        return is_less

    def clear(self) -> None:
        self._circles.clear()


def _rests_on(trace: Trace, event: Erased) -> bool:
    if event.user or event.is_aged:
        return bool(event.user) or trace.message in event.messages
    first = min((id for id in event.messages if id > 0), default=trace.newest + 1)
    return bool(event.messages) and (trace.newest <= 0 or trace.newest >= first)


def reread(index: Index, views: Mapping[str, View], trace: Trace) -> Trace:
    """A trace with the words of what is still there, and no others."""
    found = [(each, _text(index, views, each.id)) for each in trace.candidates]
    kept = tuple(each._replace(text=text) for each, text in found if text)
    named = {node: index.called(node, views) or name for node, name in trace.named.items()}
    # The block repeats what was told, or said it in other words.
    is_whole = all(text == each.text for each, text in found if not each.dropped)
    return replace(
        trace,
        weigh=lambda: kept,
        named={node: name for node, name in named.items() if index.knows(node, views)},
        block=trace.block if is_whole else "",
        lost=len(found) - len(kept),
    )


def _text(index: Index, views: Mapping[str, View], key: str) -> str:
    """What is said under a key, unless it is gone or not to be recalled."""
    if record := index.summaries.get(key, views):
        return record.summary
    number = index.documents.number(key)
    if number is None or index.documents.muted[number]:
        return ""
    return index.documents[number].text


class TraceFile:
    """The file in which the newest traces survive a restart.

    It is written when nobody has asked for a while and when the memory is closed; whoever stops
    the process otherwise loses what came since.
    """

    def __init__(self, context: Context, traces: Traces, sync: IndexSync) -> None:
        self._context, self._traces, self._sync = context, traces, sync
        self._path = context.journal.path.with_name(FILE)
        self._since, self._last = math.inf, 0.0
        self._erasures = 0
        self._job = Supervisor("gm-traces", self._step, logger, "traces are not kept", retry=(60,))
        traces.listen(self._touch)

    async def load(self) -> None:
        """Take over what was there at the last stop, unless a message is gone since."""
        count, found = await asyncio.to_thread(self._read)
        if not found:
            return
        try:
            said = await self._context.journal.look(lambda db: _asked(db, count, found))
        except JournalError as error:
            logger.warning("traces of the last days are not shown: %s", error)
            return
        for trace in found:
            if trace.message in said:
                self._traces.put(replace(trace, query=said[trace.message]))
        if not said:
            self._remove()

    def follow(self, event: Event) -> None:
        """Keep no id of what is gone; called when something is."""
        if isinstance(event, Erased):
            if not self._traces.erase(event):
                return
            self._erasures += 1
            self._remove()
        self._touch()

    async def close(self) -> None:
        """Write what is not written yet."""
        if self._job.is_running:
            await self._job.close()
            with suppress(OSError, JournalError):
                await self._save()

    def _touch(self) -> None:
        self._last = asyncio.get_running_loop().time()
        if self._since == math.inf:
            self._since = self._last
            self._job.start(after=QUIET)

    def _remove(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    async def _step(self) -> float | None:
        now = asyncio.get_running_loop().time()
        left = min(self._last + QUIET, self._since + LONGEST) - now
        if left > 0:
            return left
        self._since = math.inf
        await self._save()
        return None if self._since == math.inf else QUIET  # another one came meanwhile

    async def _save(self) -> None:
        stored = self._stored()
        if not (stored and self._sync.ready):
            return
        newest, erasures = max(trace.newest for trace in stored), self._erasures
        # What is erased from here on is noticed: by its event or, after a kill, by the count.
        count = await self._context.journal.look(lambda db: _count(db, newest))
        index = self._sync.index
        body = [await self._sync.run(_figures, index, trace) for trace in self._stored()]
        told = {"version": VERSION, "newest": newest, "messages": count, "traces": body}
        await asyncio.to_thread(self._write, told)
        if erasures != self._erasures:
            self._remove()
            self._touch()

    def _stored(self) -> list[Trace]:
        """The traces of messages that are stored, newest first, within the bounds."""
        since = self._context.now() - DAYS * DAY
        stored = (each for each in self._traces.recent() if each.message > 0 < each.newest)
        return [each for each in stored if each.at > since][:STORED]

    def _write(self, told: dict[str, Any]) -> None:
        with writing(self._path) as file:
            json.dump(told, file, separators=(",", ":"))

    def _read(self) -> tuple[tuple[int, int], list[Trace]]:
        """How many messages there were up to which, and the traces, oldest first."""
        since = self._context.now() - DAYS * DAY
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            known = told["traces"] if told["version"] == VERSION else []
            found = [trace for each in reversed(known) if (trace := _trace(each)).at > since]
            return (told["newest"], told["messages"]), found
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.warning("%s cannot be read and counts as empty: %s", FILE, type(error).__name__)
        return (0, 0), []


def _count(db: sqlite3.Connection, newest: int) -> int:
    """How many messages there are up to one."""
    query = "SELECT count(*) FROM message WHERE id BETWEEN 1 AND ?"
    return int(db.execute(query, (newest,)).fetchone()[0])


def _asked(
    db: sqlite3.Connection, counted: tuple[int, int], traces: Sequence[Trace]
) -> dict[int, str]:
    """What traces were asked, by message; nothing if messages are gone since."""
    newest, count = counted
    if _count(db, newest) != count:
        return {}
    said = by_ids(db, (trace.message for trace in traces))
    return {each.id: compose(disclosed(each).text) for each in said}


def _figures(index: Index, trace: Trace) -> dict[str, Any]:
    """What is stored of a trace."""
    known = index.documents.number
    asker = {**asdict(trace.asker), "accounts": sorted(trace.asker.accounts)}
    return {
        "asker": asker,
        "at": trace.at,
        "message": trace.message,
        "newest": trace.newest,
        "named": [node for node in trace.named if index.names.of(node)],
        "visible": trace.visible,
        "embedded": trace.embedded,
        "timing": trace.timing,
        "problem": bool(trace.problem),
        "candidates": [
            [each.id, round(each.score, 4), round(each.evidence, 4), each.signals, each.dropped]
            for each in trace.candidates
            if known(each.id) is not None or index.summaries.has(each.id)
        ],
    }


def _trace(told: dict[str, Any]) -> Trace:
    """A trace from its figures, still without words."""
    asker = Asker(**{**told["asker"], "accounts": frozenset(told["asker"]["accounts"])})
    candidates = tuple(
        TracedCandidate(id, "", score, evidence, signals, Reason(dropped) if dropped else None)
        for id, score, evidence, signals, dropped in told["candidates"]
    )
    return Trace(
        asker,
        told["at"],
        named=dict.fromkeys(told["named"], ""),
        visible=told["visible"],
        embedded=told["embedded"],
        weigh=lambda: candidates,
        timing=told["timing"],
        problem="?" if told["problem"] else "",
        message=told["message"],
        newest=told["newest"],
        is_old=True,
    )
