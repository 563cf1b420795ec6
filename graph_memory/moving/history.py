"""Conversations of another program become messages of this memory.

Whatever wrote them down, they come as :class:`Line` s and are staged alike: cleaned, in the
order in which they were said, cut into episodes and batches by the rules that cut what is
heard, each in the Session of its chat and persona.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from ..episode import continues
from ..journal import Rows
from ..journal.rows import write
from ..learn.batching import MAX_TOKENS, claim_writer
from ..model import BOT, NOBODY, Episode, Message, Session, session_of, user_id
from ..text import clean, clean_name, tokens
from .deduplication import Held, Told, recognised
from .stage import Stage

EXACT = 120.0
"""Seconds by which two programs may differ about when something was said."""
OVERHEAD = 1_800
"""Tokens of a learning call besides the messages: instructions, what is known already."""
ANSWER = 350
"""Tokens of its answer."""
_LINES = """
    CREATE TEMP TABLE line (
        key TEXT NOT NULL PRIMARY KEY, session TEXT NOT NULL, sender TEXT NOT NULL,
        name TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, slack REAL NOT NULL
    )
"""
_NEWEST_FIRST = """
    SELECT key, sender, text, at, slack FROM line
    WHERE session IN (SELECT value FROM json_each(?)) ORDER BY at DESC, key DESC
"""


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said, as another program wrote it down.

    Attributes:
        key: Tells it apart from every other line of its source, for good.
        platform: Platform type.
        group: Group id; empty in a private chat.
        account: Whose private chat it is; empty in a group.
        sender: Account of who spoke; ``bot`` for the bot; empty if nobody knows.
        at: When, seconds since the epoch.
        slack: Seconds by which ``at`` may be wrong.
    """

    key: str
    platform: str
    group: str
    account: str
    persona: str
    sender: str
    name: str
    text: str
    at: float
    slack: float = EXACT
    title: str = ""
    umo: str = ""

    @property
    def session(self) -> Session:
        """Where it was said."""
        return session_of(
            self.platform,
            self.group,
            self.account,
            self.persona,
            title=clean(self.title),
            umo=self.umo,
        )


class History:
    """Stages lines.

    Attributes:
        skipped: How many lines were left out, by reason.
        batches, tokens: What learning all of it would take.

    Args:
        format: Prefix of the references of its messages.
        zone: Whose midnight ends an episode.
        held: What the memory holds of a circle.
    """

    def __init__(
        self,
        stage: Stage,
        format: str,
        zone: tzinfo,
        held: Callable[[str], Iterable[Held]],
    ) -> None:
        self.skipped: Counter[str] = Counter()
        self.batches = 0
        self.tokens = 0
        self._stage = stage
        self._format = format
        self._zone = zone
        self._held = held
        self._sessions: dict[str, Session] = {}
        stage.db.execute(_LINES)

    def add(self, line: Line, *, repeats: bool = False) -> None:
        """Take a line; one that is there already is left out.

        Args:
            repeats: One of the same key was said once more.
        """
        text = clean(line.text)
        if not text:
            self.skipped["empty"] += 1
            return
        session = line.session
        known = self._sessions.get(session.id)
        if known is None or (session.title and not known.title):
            self._sessions[session.id] = session
        sender = line.sender
        if sender != BOT:
            sender = user_id(line.platform, sender or line.account or NOBODY)
        name = "" if sender == BOT else clean_name(line.name)
        times = 1
        said = session.id, sender, name, text, line.at, line.slack
        while not self._insert(f"{self._format}:{_digest(line.key, times)}", *said):
            if not repeats:
                self.skipped["double"] += 1
                return
            times += 1

    def _insert(self, *values: str | float) -> bool:
        cursor = self._stage.db.execute(
            "INSERT OR IGNORE INTO line VALUES (?, ?, ?, ?, ?, ?, ?)", values
        )
        return cursor.rowcount > 0

    def finish(self) -> None:
        """Put what was taken in order, and cut it into episodes and batches."""
        db = self._stage.db
        self._leave_out()
        left = {id for (id,) in db.execute("SELECT DISTINCT session FROM line")}
        self._sessions = {id: each for id, each in self._sessions.items() if id in left}
        self._stage.put(list(self._sessions.values()))
        for line in db.execute(
            "SELECT 0, session, sender, name, text, at, key FROM line ORDER BY at, key"
        ):
            self._stage.add(Message(*line))
        db.execute("DROP TABLE line")
        for session in sorted(self._sessions):
            self._claim(self._sessions[session])

    def _leave_out(self) -> None:
        """Leave out what the memory heard itself."""
        db = self._stage.db
        for circle in {session.circle for session in self._sessions.values()}:
            here = json.dumps([id for id, s in self._sessions.items() if s.circle == circle])
            known = recognised(
                self._held(circle),
                lambda here=here: map(Told._make, db.execute(_NEWEST_FIRST, (here,))),  # type: ignore[misc]
                f"{self._format}:",
            )
            db.executemany("DELETE FROM line WHERE key = ?", [(key,) for key in known])
            if known:
                self.skipped["double"] += len(known)

    def _claim(self, session: Session) -> None:
        episode: Episode | None = None
        for taken in _batches(_messages(self._stage.db, session.id), self._zone):
            draft = claim_writer(episode, self._zone)(Rows(self._stage.db), session, taken)
            write(self._stage.db, draft, taken[-1].at)
            episode = next(row for row in draft.put if isinstance(row, Episode))
            self._open(session, taken)

    def _open(self, session: Session, taken: list[Message]) -> None:
        """A batch that counts as learned until somebody wants it to be."""
        unknown = any(m.is_nobodys for m in taken)
        cursor = self._stage.db.execute(
            "INSERT INTO batch (session, state, created_at, error) VALUES (?, 'learned', ?, ?)",
            (session.id, taken[-1].at, "unknown speaker" if unknown else ""),
        )
        batch = int(cursor.lastrowid or 0)
        self._stage.db.executemany(
            "UPDATE message SET batch = ? WHERE id = ?", [(batch, m.id) for m in taken]
        )
        if unknown:
            self._stage.speechless.add(batch)
        elif any(m.is_human for m in taken):
            self.batches += 1
            self.tokens += OVERHEAD + ANSWER + sum(tokens(m.name + m.text) for m in taken)


def _digest(key: str, times: int) -> str:
    text = f"{key}\x1f{times}" if times > 1 else key
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _messages(db: sqlite3.Connection, session: str) -> Iterator[Message]:
    after = 0
    while page := db.execute(
        "SELECT id, session, sender, name, text, at, ref FROM message"
        " WHERE session = ? AND id > ? ORDER BY id LIMIT 500",
        (session, after),
    ).fetchall():
        after = page[-1][0]
        yield from (Message(*each) for each in page)


def _batches(messages: Iterator[Message], zone: tzinfo) -> Iterator[list[Message]]:
    """Cut a Session into batches: none crosses an episode or is too long for one call."""
    run: list[Message] = []
    start: Message | None = None
    length = spent = 0
    for message in messages:
        cost = tokens(message.text)
        is_new = (
            start is None
            or not run
            or not continues(start.at, run[-1].at, length, message.at, zone)
        )
        if run and (is_new or spent + cost > MAX_TOKENS):
            yield run
            run, spent = [], 0
        if is_new:
            start, length = message, 0
        run.append(message)
        length += 1
        spent += cost
    if run:
        yield run
