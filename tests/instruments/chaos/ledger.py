"""What was promised, held against what the journal's file says.

Reads the file with SQLite alone: none of the code under test is asked whether it is right.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .chatter import WORD, Line


@dataclass
class Tally:
    """What a campaign has found."""

    problems: list[str] = field(default_factory=list, kw_only=True)

    def result(self) -> dict[str, Any]:
        """All figures, as JSON has them; of problems also how many of each kind there are."""
        kinds = Counter(problem.partition(":")[0] for problem in self.problems)
        shown = vars(self) | {"kinds_of_problems": kinds, "problems": self.problems[:50]}
        return {key: _plain(value) for key, value in shown.items()}


def _plain(value: Any) -> Any:
    match value:
        case Counter():
            return dict(value.most_common(30))
        case float():
            return round(value, 2)
    return value


@dataclass
class Ledger:
    """Words that were sent and acknowledged in one data directory."""

    sent: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)

    @property
    def in_flight(self) -> list[str]:
        """Sent, but nobody knows whether they arrived: a platform would send them again."""
        return sorted(word for word in self.sent - self.acknowledged if word.startswith("w"))

    def audit(self, journal: Path, *, final: bool = False) -> list[str]:
        """What is wrong with a journal; if ``final``, all had time to be learned."""
        uri = f"{journal.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=30)) as db:
            db.execute("BEGIN")
            said = db.execute("SELECT text FROM message WHERE sender != 'bot'")
            there = Counter(word for (text,) in said for word in WORD.findall(text))
            found = [*self._messages(there), *_batches(db), *_facts(db)]
            if final:
                found += [f"never sent: {word}" for word in sorted(there.keys() - self.sent)]
                found += [*_left_over(db), *_integrity(db)]
        return found

    def _messages(self, there: Counter[str]) -> list[str]:
        lost = sorted(self.acknowledged - there.keys())
        twice = sorted(word for word, count in there.items() if count > 1)
        return [*(f"lost: {word}" for word in lost), *(f"stored twice: {word}" for word in twice)]


def _batches(db: sqlite3.Connection) -> list[str]:
    changes = Counter(batch for (batch,) in db.execute("SELECT batch FROM change") if batch)
    states = dict(db.execute("SELECT id, state FROM batch"))
    learned = {batch for batch, state in states.items() if state == "learned"}
    (loose,) = db.execute(
        "SELECT count(*) FROM message"
        " WHERE batch IS NOT NULL AND batch NOT IN (SELECT id FROM batch)"
    ).fetchone()
    return [
        *(f"learned twice: batch {batch}" for batch, count in changes.items() if count > 1),
        *(f"learned without a change: batch {batch}" for batch in learned - changes.keys()),
        *(f"a change of a batch that is not learned: {b}" for b in changes.keys() - learned),
        *([f"messages of batches that do not exist: {loose}"] if loose else []),
    ]


def _facts(db: sqlite3.Connection) -> list[str]:
    """A word is said once: a fact of it that is strengthened or doubled was learned twice."""
    found: Counter[str] = Counter()
    for (data,) in db.execute("SELECT data FROM row WHERE kind = 'fact'"):
        fact = json.loads(data)
        for word in WORD.findall(fact["statement"]):
            found[word] += fact["use_count"]
    return [f"learned twice: {w}" for w, count in found.items() if count > 1 and Line(w).is_fact]


def _words(db: sqlite3.Connection, query: str) -> set[str]:
    return {word for (text,) in db.execute(query) for word in WORD.findall(text)}


def _left_over(db: sqlite3.Connection) -> list[str]:
    waiting = db.execute("SELECT count(*) FROM message WHERE batch IS NULL").fetchone()[0]
    open_ones = db.execute("SELECT count(*) FROM batch WHERE state != 'learned'").fetchone()[0]
    said = _words(db, "SELECT text FROM message WHERE sender != 'bot'")
    heard = {word for word in said if Line(word).is_fact}
    known = _words(db, "SELECT data FROM row WHERE kind = 'fact'")
    forgotten = _words(db, "SELECT ops FROM change WHERE reason = 'forget'")
    return [
        *([f"messages that were never claimed: {waiting}"] if waiting else []),
        *([f"batches that were never learned: {open_ones}"] if open_ones else []),
        *(f"not learned: {word}" for word in sorted(heard - known - forgotten)),
    ]


def _integrity(db: sqlite3.Connection) -> list[str]:
    (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    return [] if verdict == "ok" else [f"SQLite: {verdict}"]
