"""Intake: what one file holds, checked and in order, while it is imported.

It is a temporary database without a name, which the system deletes with the process. It
has the journal's tables, so that who asked to be forgotten is erased from a file by the
very code that erases from a backup; messages have numbers of their own here.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..deletion import Tombstones, forget_me, retraction
from ..errors import FormatError
from ..learning.batching import claimer
from ..model import BOT, NOBODY, Episode, Erased, Message, Presence, Session, session_of, user_id
from ..remember_requests import declined
from ..settings import Remembers
from ..store import Draft, Rows, contents
from ..store import messages as mail
from ..store.journal import finished
from ..store.pauses import Gaps, put_pause
from ..store.rows import PAGE, is_used, select_messages, write
from ..store.schema import migrate
from ..supervisor import Progress
from ..text import blocks, clean, clean_name, tokens
from .deduplication import Said, recognised
from .file_format import Piece

EXACT = 120.0
"""Seconds by which two programs may differ about when something was said."""
OVERHEAD, ANSWER = 1_800, 350
"""Tokens of a learning call besides the messages, and of its answer."""
UNKNOWN_SPEAKER = "unknown speaker"
"""Error of a batch from which nothing is to be learned: nobody knows who spoke."""
_TABLES = Path(__file__).with_suffix(".sql").read_text("utf-8")
_, *_REFERENCES = blocks(Path(__file__).with_suffix(".txt"))
_OF_SESSIONS = (
    "DELETE FROM message WHERE session IN (SELECT value FROM json_each(:sessions))",
    "DELETE FROM batch WHERE session IN (SELECT value FROM json_each(:sessions))",
    "DELETE FROM row WHERE kind IN ('episode', 'fact') AND session IN"
    " (SELECT value FROM json_each(:sessions))",
    "DELETE FROM row WHERE session IN (SELECT value FROM json_each(:sessions))"
    " OR kind = 'session' AND id IN (SELECT value FROM json_each(:sessions))",
)
"""What goes with some Sessions."""
_HIGHEST = (
    "SELECT max(id) FROM message",
    "SELECT max(e.value) FROM row f, json_each(f.data, '$.evidence') e",
    "SELECT max(json_extract(data, '$.last_message')) FROM row WHERE kind = 'episode'",
    "SELECT max(json_extract(data, '$.first_message')) FROM row WHERE kind = 'episode'",
    "SELECT max(json_extract(data, '$.message')) FROM row WHERE kind = 'forgotten'",
    "SELECT max(json_extract(a.value, '$[2]')) FROM message m, json_each(m.addressees) a",
)


@dataclass(frozen=True, slots=True)
class ChatWindow:
    """A chat window.

    Attributes:
        platform: Platform type.
        group: Group id; empty in a private chat.
        account: Whose private chat it is, or who alone speaks there; empty if nobody knows.
    """

    platform: str
    group: str
    account: str
    umo: str = ""
    title: str = ""

    def session(self, persona: str) -> Session:
        """Its Session under a persona."""
        about = {"title": clean(self.title), "umo": self.umo}
        return session_of(self.platform, self.group, self.account, persona, **about)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Something that was said, as another program wrote it down.

    Attributes:
        key: Tells it apart from every other line of its chat window in its file, for good.
        sender: Account of who spoke; ``bot`` for the bot; empty if nobody knows.
        at: When, seconds since the epoch.
        slack: Seconds by which ``at`` may be wrong.
        repeats: Whether a second line of the same key was said once more.
        is_to_bot: Whether it was said to the bot, in a group as well.
    """

    key: str
    place: ChatWindow
    persona: str
    sender: str
    name: str
    text: str
    at: float
    slack: float = EXACT
    repeats: bool = False
    is_to_bot: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is left out, and why."""

    reason: str
    count: int = 1


class Intake:
    """The contents of one file; used by one thread at a time.

    Attributes:
        skipped: How many lines were left out, by reason; and people, as ``forgotten``.
        batches, tokens: What learning all of it would take.

    Args:
        format: Prefix of the references that its messages get.
        zone: Whose midnight ends an episode.
    """

    def __init__(self, format: str, zone: tzinfo) -> None:
        self.skipped: Counter[str] = Counter()
        self.batches = self.tokens = 0
        self._format = format
        self._zone = zone
        self._sessions: dict[str, Session] = {}
        self.db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self.db.execute("PRAGMA cache_size = -65536")  # KiB that stay in memory
        migrate(self.db, Path("intake"))
        self.db.executescript(_TABLES)
        self.db.execute("BEGIN")

    def close(self) -> None:
        """Delete it."""
        self.db.close()

    # ----------------------------------------------------------------- filling

    def add(self, piece: Piece | SourceLine | Skipped) -> None:
        """Enter a piece.

        Raises:
            FormatError: There is one of its name already.
        """
        match piece:
            case SourceLine():
                self._add_line(piece)
            case Skipped():
                self.skipped[piece.reason] += piece.count
            case Message():
                self._insert("message", piece.id, lambda: mail.insert(self.db, piece))
            case mail.Claim():
                self._insert("batch", piece.id, lambda: mail.put_claim(self.db, piece))
            case Presence():
                values = piece.circle, piece.user, piece.since, piece.until
                self.db.execute("INSERT OR REPLACE INTO presence VALUES (?, ?, ?, ?, '')", values)
            case tuple():
                put_pause(self.db, *piece)
            case _:
                change = write(self.db, Draft("import", "intake", [piece]), 0.0)
                is_double = change is None or change.ops[0].before
                if is_double and not isinstance(piece, Session):
                    raise FormatError(f"{piece.kind} {piece.id[:80]} is there twice", 0, "id")

    def _insert(self, kind: str, id: int, work: Callable[[], object]) -> None:
        try:
            work()
        except sqlite3.IntegrityError:
            raise FormatError(f"{kind} {id} is there twice", 0, "id") from None

    def _add_line(self, line: SourceLine) -> None:
        text, place = clean(line.text), line.place
        if not text:
            self.skipped["empty"] += 1
            return
        session = place.session(line.persona)
        known = self._sessions.get(session.id)
        if known is None or (session.title and not known.title):
            self._sessions[session.id] = session
        is_bot = line.sender == BOT
        sender = BOT if is_bot else user_id(place.platform, line.sender or place.account or NOBODY)
        name = "" if is_bot else clean_name(line.name)
        times, is_to_bot = 1, line.is_to_bot or not place.group
        while not self.db.execute(
            "INSERT OR IGNORE INTO line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(self._reference(line.key, times), session.circle, session.id),
                *(sender, name, text, line.at, line.slack, is_to_bot),
            ),
        ).rowcount:
            if not line.repeats:
                self.skipped["double"] += 1
                return
            times += 1

    def _reference(self, key: str, times: int) -> str:
        text = f"{key}\x1f{times}" if times > 1 else key
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12)
        return f"{self._format}:{digest.hexdigest()}"

    def finish(
        self,
        held: Callable[[str, list[str]], Iterable[Said]],
        gaps: Gaps,
        remembers: Remembers,
        steps: Progress,
    ) -> None:
        """Put lines in order, cut them into episodes and batches, and check everything.

        Args:
            held: What the memory holds of a chat window, and of some Sessions by their ids.
            steps: Lines are entered, cut, and brought in (or compared) by whoever comes next.
            gaps: When nothing was to be stored.
            remembers: Whether what somebody says in a chat is to be stored at all.

        Raises:
            FormatError: Something that is referred to is not there.
        """
        for circle in {session.circle for session in self._sessions.values()}:
            self._leave_out(circle, held)
        write(self.db, Draft("import", "intake", [*self._sessions.values()]), 0.0)
        (count,) = self.db.execute("SELECT count(*) FROM line").fetchone()
        steps.take(0, 3 * count)
        for line in self.db.execute(
            "SELECT 0, session, sender, name, text, at, key FROM line ORDER BY at, rowid"
        ):
            said = mail.insert(self.db, mail.announced(self.db, Message(*line)))
            mail.confide(self.db, said, 0.0)
            steps.take(1)
        self._leave_chats_out(remembers)
        self._retract(gaps, remembers)
        empty = [id for id in self._sessions if not is_used(self.db, id)]
        write(self.db, Draft("import", "intake", drop=[(Session.kind, id) for id in empty]), 0.0)
        for id in sorted(self._sessions.keys() - empty):
            self._cut(self._sessions[id], steps)
        for field, reason, *query in _REFERENCES:
            found = self.db.execute(" ".join(query)).fetchone()
            if found:
                raise FormatError(reason.format(*(str(part)[:80] for part in found)), 0, field)

    def _leave_out(self, circle: str, held: Callable[[str, list[str]], Iterable[Said]]) -> None:
        """Leave out what the memory heard itself in a chat window."""
        here = [id for id, session in self._sessions.items() if session.circle == circle]

        def told() -> Iterator[Said]:
            return map(
                Said._make,
                self.db.execute(
                    "SELECT key, sender, text, at, slack FROM line WHERE session IN"
                    " (SELECT value FROM json_each(?)) ORDER BY at DESC, rowid DESC",
                    (json.dumps(here),),
                ),
            )

        known = recognised(held(circle, here), told, f"{self._format}:")
        gone = [(key, circle) for key in known]
        self.db.executemany("DELETE FROM line WHERE key = ? AND circle = ?", gone)
        self.skipped["double"] += len(known)

    def _leave_chats_out(self, remembers: Remembers) -> None:
        """Leave out what is of chats that are not to be stored."""
        spoke = "SELECT DISTINCT session, sender FROM message WHERE sender != ?"
        places, kept = contents.sessions(self.db), set[str]()
        for id, sender in (*((id, "") for id in places), *self.db.execute(spoke, (BOT,))):
            if (place := places.get(id)) and remembers(place, sender or place.owner):
                kept.add(id)
        some = json.dumps(sorted(places.keys() - kept))
        messages, _, rows, _ = (
            self.db.execute(query, {"sessions": some}).rowcount for query in _OF_SESSIONS
        )
        self.skipped["paused"] += messages or rows

    def _retract(self, gaps: Gaps, remembers: Remembers) -> None:
        """Leave out what may be of a gap, or was not to be kept, with the answers."""
        places = contents.sessions(self.db)

        def tell(event: object) -> None:
            if isinstance(event, Erased):
                self.skipped["paused"] += len(event.messages)

        gone: list[int] = []
        last, was_gone = "", False
        query = "SELECT m.id, m.session, m.sender, m.at, m.text, ifnull(l.slack, 0),"
        query += " ifnull(l.is_to_bot, 0) FROM message m LEFT JOIN line l ON l.key = m.ref"
        query += " AND l.session = m.session ORDER BY m.session, m.id"
        for id, session, sender, at, text, slack, is_to_bot in self.db.execute(query):
            place = places.get(session)
            if place is None:
                continue
            people = set() if sender.endswith(f":{NOBODY}") else {sender, place.owner} - {""}
            which = declined(text) if is_to_bot and sender != BOT else None
            if which and people:
                asked = Message(id, session, sender, "", text, at - slack)
                before = mail.said_before(self.db, asked)
                gone += [before.id] if before else []
            is_off = (sender != BOT and not remembers(place, sender)) or which is not None
            # Of lines nobody knows to whom they were said, nor exactly when.
            is_answer = slack > 0 and sender == BOT and session == last and was_gone
            is_held = gaps.hold(place.circle, people, at - slack, at + slack)
            last, was_gone = session, is_off or is_answer or is_held
            gone += [id] if was_gone else []
        retraction.retract_all(self.db, tell, gone, 0.0)
        told = [
            (each.kind, each.id)
            for each in Rows(self.db).scan(Episode)
            if not each.last_message and (place := places.get(each.session))
            if gaps.hold(place.circle, each.participants, *each.span)
        ]
        write(self.db, Draft("import", "intake", drop=[*told]), 0.0)
        self.skipped["paused"] += len(told)

    def _cut(self, session: Session, steps: Progress) -> None:
        """Let batches claim the lines of a Session, by the rules of what is heard."""
        after = 0
        query = "WHERE session = ? AND id > ? ORDER BY id LIMIT ?"
        while waiting := select_messages(self.db, query, (session.id, after, PAGE)):
            count, draft = claimer(self._zone)(Rows(self.db), session, waiting)
            taken = waiting[:count]
            after = taken[-1].id
            write(self.db, draft, taken[-1].at)
            self._claim(taken)
            steps.take(count)

    def _claim(self, taken: list[Message]) -> None:
        """Make a batch that counts as learned until somebody wants it to be."""
        error = UNKNOWN_SPEAKER if any(m.is_nobodys for m in taken) else ""
        mail.open_batch(self.db, taken, taken[-1].at, "learned", error)
        if not error and any(m.is_human for m in taken):
            self.batches += 1
            self.tokens += OVERHEAD + ANSWER + sum(tokens(m.name + m.text) for m in taken)

    def erase(self, directory: Path, retracted: Iterable[str]) -> None:
        """Erase who asked to be forgotten here, and messages with a mark in ``retracted``."""
        tombstones = Tombstones.read(directory)
        found = tombstones.match(forget_me.users(self.db)) if tombstones.stones else {}
        for user in found.values():
            finished(forget_me.erase(self.db, user, 0.0))
        self.skipped["forgotten"] = len(found)
        retraction.retract_again(self.db, set(retracted), 0.0)

    # ----------------------------------------------------------------- reading

    @property
    def highest(self) -> int:
        """The highest number of a message that is there or is referred to."""
        return max(self.db.execute(query).fetchone()[0] or 0 for query in _HIGHEST)

    def examples(self, limit: int) -> list[Message]:
        """A few messages from all over."""
        ids = [id for (id,) in self.db.execute("SELECT id FROM message ORDER BY id LIMIT 1000")]
        return mail.by_ids(self.db, ids[:: max(1, len(ids) // limit)][:limit])

    def stand(self, lines: Iterable[Message]) -> None:
        """Note those that the memory holds of the same Sessions without references."""
        found = ((_digest(line), line.id) for line in lines if not line.ref)
        self.db.executemany("INSERT INTO standing VALUES (?, ?)", found)

    def twin(self, message: Message) -> int | None:
        """The message of the memory that is this one though it has no reference."""
        query = "SELECT number FROM standing s WHERE digest = ? AND NOT EXISTS"
        query += " (SELECT 1 FROM live WHERE number = s.number) ORDER BY number LIMIT 1"
        found = self.db.execute(query, (_digest(message),)).fetchone()
        return int(found[0]) if found else None

    def settle(self, id: int, number: int) -> None:
        """Note the number that a message has in the memory."""
        self.db.execute("INSERT OR REPLACE INTO live VALUES (?, ?)", (id, number))

    def numbers(self, ids: Iterable[int]) -> dict[int, int]:
        """The numbers that messages have in the memory, by their numbers here."""
        query = "SELECT number FROM live WHERE id = ?"
        found = {id: self.db.execute(query, (id,)).fetchone() for id in set(ids)}
        return {id: row[0] for id, row in found.items() if row}

    def span(self, session: str, first: int, last: int) -> tuple[int, int, int, int] | None:
        """The numbers, here and in the memory, of the ends of a stretch of a Session."""
        query = "SELECT min(m.id), max(m.id), min(l.number), max(l.number) FROM message m"
        query += " JOIN live l ON l.id = m.id WHERE m.session = ? AND m.id BETWEEN ? AND ?"
        low, high, new_low, new_high = self.db.execute(query, (session, first, last)).fetchone()
        return None if new_low is None else (low, high, new_low, new_high)


def _digest(message: Message) -> int:
    """A number that stands for who said what where and when."""
    about = message.session, message.sender, message.text, repr(message.at)
    found = hashlib.blake2b("\x1f".join(about).encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(found.digest(), "big", signed=True)
