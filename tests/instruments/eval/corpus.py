"""Files of conversations and questions: one JSON object a line.

``mem`` {ns, id, text, speaker, time[, session]} is a message, ``obs`` {ns, id, text,
speaker, src: [mem ids]} a fact that was extracted from messages, ``q`` {ns, id, text, cat,
gold: [mem ids][, gold_any: [[ids] …]][, previous]} a question with its evidence: for each
slot, the messages that state it. ``ns`` is one person's memory.
"""

import contextlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

OWNER = "user"
"""Speaker whose memory it is."""
BEGINNING = 1_700_000_000.0
LINE, PAUSE = 30.0, 3_600.0
"""Seconds assumed between two lines of one conversation, and between conversations."""

FORMS = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M", "%d.%m.%Y, %H:%M:%S", "%Y-%m-%d")
"""Ways in which files write times."""
_CHINESE_DATE = re.compile(r"(\d+)年(\d+)月(\d+)日(?: \S+)?(?: (\d+):(\d+))?")


@dataclass(frozen=True, slots=True)
class Line:
    """A message; ``id`` is unique in its memory, ``at`` in seconds."""

    id: str
    speaker: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Observation:
    id: str
    speaker: str
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question; every slot is a set of messages of which one is enough.

    Attributes:
        previous: What was said before it, for a question that leans on it.
    """

    owner: str
    text: str
    category: str
    slots: tuple[frozenset[str], ...]
    previous: str = ""


@dataclass(slots=True)
class Person:
    lines: list[Line] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)


@dataclass(slots=True)
class Corpus:
    people: dict[str, Person] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)


def read(path: Path, limit: int | None = None) -> Corpus:
    """Read a file; of its questions at most ``limit``, spread evenly over it."""
    with path.open(encoding="utf-8") as lines:
        corpus = parse(json.loads(line) for line in lines if line.strip())
    if limit and limit < len(corpus.queries):
        step = len(corpus.queries) / limit
        corpus.queries = [corpus.queries[int(i * step)] for i in range(limit)]
    return corpus


def parse(records: Iterable[dict[str, Any]]) -> Corpus:
    """A corpus from the records of a file."""
    corpus = Corpus()
    session: dict[str, str | None] = {}
    for record in records:
        person = corpus.people.setdefault(record["ns"], Person())
        match record["t"]:
            case "mem":
                before, now = session.get(record["ns"]), record.get("session")
                same = now is not None and before == now
                session[record["ns"]] = now
                last = person.lines[-1].at if person.lines else BEGINNING
                at = when(record.get("time", ""))
                if same:
                    at = max(at or 0.0, last + LINE)
                elif at is None:
                    at = last + PAUSE
                person.lines.append(Line(record["id"], record["speaker"], record["text"], at))
            case "obs":
                learned = record["id"], record["speaker"], record["text"], tuple(record["src"])
                person.observations.append(Observation(*learned))
            case "q" if record["gold"]:
                slots = record.get("gold_any") or [[id] for id in record["gold"]]
                wanted = tuple(frozenset(slot) for slot in slots)
                asked = record["ns"], record["text"], record["cat"], wanted
                corpus.queries.append(Query(*asked, record.get("previous", "")))
    return corpus


def when(text: str) -> float | None:
    """A time as the files write it, in seconds; ``None`` if there is none."""
    if not text:
        return None
    chinese = _CHINESE_DATE.match(text)
    if chinese:
        year, month, day, hour, minute = (int(part or 0) for part in chinese.groups())
        return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()
    for form in FORMS:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
    raise ValueError(f"no time of a known form: {text!r}")
