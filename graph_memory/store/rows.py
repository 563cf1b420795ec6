"""Rows and changes: what a draft is resolved against, written and undone."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TypeVar

from ..errors import ConflictError, NotFoundError
from ..identity import Identities
from ..model import (
    BOT,
    EPISODE,
    GAP,
    Addressee,
    Basis,
    Batch,
    Change,
    Data,
    Elsewhere,
    Entity,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Link,
    Mention,
    Merge,
    Message,
    Name,
    Op,
    Presence,
    PresenceReset,
    Row,
    Session,
    decode,
    encode,
    is_entity,
    kind_named,
    registered,
)
from ..privacy.redaction import disclosed, masked, redacted
from ..privacy.scope import in_confidence
from ..text import digest, says_something, terms, text_hash
from . import presence

logger = logging.getLogger("graph_memory.store")

R = TypeVar("R", bound=Row)
T = TypeVar("T")
K = TypeVar("K")
Event = Change | Message | Presence | PresenceReset | Erased | Elsewhere
"""What the journal tells its listeners: a message that was stored or moved to another
Session, an interval of presence that began or ended, a change, messages that are gone, that
another bot wrote."""
Tell = Callable[[Event], None]
PAGE = 500
_FAR = 1 << 62
RETOLD = 160
"""Characters of a summary that is made without a model."""
FIELDS = "id, session, sender, name, text, at, ref, batch, addressees, confided"
"""Columns of which :func:`select_messages` makes messages."""
THINNED_COUNT = "thinned messages"
"""Note: how many messages were deleted because they were old."""
TRIMMED = "trimmed"
"""Note: the newest change of which the log keeps only counts."""
RETRACTED = "recalled"
"""Reason of a change that follows a message which was taken back; it cannot be undone."""
EXPIRED = "expire"
"""Reason of a change that forgets what was to be forgotten by then."""
ASKED = "remember"
"""Reason of a change by which somebody had a message remembered."""
UNDO_IMPORT = "undo import"
"""Reason of a change that takes an import back: what its rows rested on is gone for good."""


@dataclass(slots=True)
class Draft:
    """A change that is about to be written.

    Attributes:
        put: Rows to write; a row that is there already is left out.
        drop: ``(kind, id)`` of rows to delete.
        prompt: Version of what a model was asked about the batch; 0 if none was.
    """

    actor: str
    reason: str
    put: list[Row] = field(default_factory=list)
    drop: list[tuple[str, str]] = field(default_factory=list)
    batch: int | None = None
    undoes: int | None = None
    prompt: int = 0


def select_messages(
    db: sqlite3.Connection, rest: str, values: Sequence[object] | Mapping[str, object] = ()
) -> list[Message]:
    """The messages that a query finds.

    Args:
        rest: What follows after the table, a constant.
    """
    found = []
    for row in db.execute(f"SELECT {FIELDS} FROM message {rest}", values):
        to = () if row[-2] == "[]" else tuple(Addressee(*each) for each in json.loads(row[-2]))
        fields = (*row[:-2], to, bool(row[-1]))
        found.append(Message(*fields))
    return found


def rows_of(cls: type[R], found: Iterable[tuple[str]]) -> list[R]:
    """Rows of ``cls`` by their data."""
    return [cls.of_data(json.loads(data)) for (data,) in found]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as they stand now; usable on the thread of its connection only."""

    _db: sqlite3.Connection

    def get(self, cls: type[R], id: str) -> R | None:
        """The row of ``cls`` with this id."""
        query = "SELECT data FROM row WHERE kind = ? AND id = ?"
        return next(iter(rows_of(cls, self._db.execute(query, (cls.kind, id)))), None)

    def require(self, cls: type[R], id: str) -> R:
        """The row of ``cls`` with this id; raises ``NotFoundError``."""
        found = self.get(cls, id)
        if found is None:
            raise NotFoundError(f"there is no {cls.kind} {id}")
        return found

    def some(self, cls: type[R], ids: Iterable[str]) -> list[R]:
        """The rows of ``cls`` with some ids that are there."""
        query = "SELECT data FROM row WHERE kind = ? AND id IN (SELECT value FROM json_each(?))"
        return rows_of(cls, self._db.execute(query, (cls.kind, json.dumps(list(ids)))))

    def find(
        self,
        cls: type[R],
        *,
        session: str | None = None,
        a: str | None = None,
        b: str | None = None,
        newest: int | None = None,
    ) -> list[R]:
        """Rows of ``cls`` by their keys, in order of id; or so many of the newest."""
        keys = {"session": session, "a": a, "b": b}
        given = {key: value for key, value in keys.items() if value is not None}
        where = "".join(f" AND {key} = :{key}" for key in given)
        order = "id" if newest is None else "change DESC, id LIMIT :newest"
        query = f"SELECT data FROM row WHERE kind = :kind{where} ORDER BY {order}"
        return rows_of(cls, self._db.execute(query, {"kind": cls.kind, "newest": newest, **given}))

    def resting(self, cls: type[R], message: Message) -> list[R]:
        """The rows of ``cls`` that rest on a message of their Session, in order of id."""
        query = (
            "SELECT data FROM row WHERE kind = ? AND session = ?"
            " AND ? IN (SELECT value FROM json_each(data, '$.evidence')) ORDER BY id"
        )
        return rows_of(cls, self._db.execute(query, (cls.kind, message.session, message.id)))

    def about(self, node: str) -> list[Fact]:
        """The facts of which a node is subject or object, in order of id."""
        found = {fact.id: fact for fact in (*self.find(Fact, a=node), *self.find(Fact, b=node))}
        return [found[id] for id in sorted(found)]

    def history(self, subject: str, predicate: str = "") -> list[Fact]:
        """The facts about a node that replace others or have ``predicate``."""
        query = (
            "SELECT data FROM row WHERE kind = 'fact' AND a = ?"
            " AND (json_array_length(data, '$.supersedes') > 0"
            " OR json_extract(data, '$.predicate') = ?) ORDER BY id"
        )
        return rows_of(Fact, self._db.execute(query, (subject, predicate)))

    def replacing(self, id: str) -> list[Fact]:
        """The facts that replace a fact."""
        query = "SELECT data FROM fact WHERE id IN (SELECT new FROM replacement WHERE old = ?)"
        return rows_of(Fact, self._db.execute(f"{query} ORDER BY id", (id,)))

    def episode(
        self, session: str, message: int = -1, shows: Callable[[Episode], bool] | None = None
    ) -> Episode | None:
        """The last episode of a Session that is shown, or the one that holds a message."""
        order = "" if message >= 0 else " DESC"
        query = (
            "SELECT data FROM row WHERE kind = 'episode' AND session = :session"
            " AND json_extract(data, '$.last_message') >= :message"
            " AND (:message = -1 OR json_extract(data, '$.first_message') <= :message)"
            " AND json_extract(data, '$.level') = :level"
            f" ORDER BY json_extract(data, '$.last_message'){order}"
        )
        given = {"session": session, "message": message, "level": EPISODE}
        found = (Episode.of_data(json.loads(d)) for (d,) in self._db.execute(query, given))
        return next((each for each in found if shows is None or shows(each)), None)

    def episodes_of(self, session: str, messages: Iterable[int]) -> list[Episode]:
        """Episodes and records of a Session that hold one of some messages, by id."""
        ids = sorted(messages)
        query = (
            "SELECT data FROM row WHERE kind = 'episode' AND session = ?"
            " AND json_extract(data, '$.last_message') >= ?"
            " AND json_extract(data, '$.first_message') <= ? ORDER BY id"
        )
        found = rows_of(Episode, self._db.execute(query, (session, ids[0], ids[-1]))) if ids else []
        return [e for e in found if any(e.first_message <= id <= e.last_message for id in ids)]

    def identities(self) -> Identities:
        """Who and what is one with whom."""
        return Identities((*self.scan(Merge), *self.scan(Link)))

    def called(self, *nodes: str) -> str:
        """What nodes that are one were called last, anywhere (owner's view); may be empty."""
        return self.names({"": nodes}).get("", "")

    def names(self, wanted: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """The same of several groups of nodes, each by its key, if there is a name."""
        query = (  # ``Name.order``
            "SELECT e.key, (SELECT json_extract(data, '$.text') FROM row WHERE kind = 'name'"
            " AND a IN (SELECT value FROM json_each(e.value))"
            " ORDER BY ifnull(json_extract(data, '$.given'), 0),"
            " json_extract(data, '$.last_at') DESC, id DESC LIMIT 1)"
            " AS text FROM json_each(?) e WHERE text IS NOT NULL"
        )
        keys, groups = list(wanted), json.dumps([list(nodes) for nodes in wanted.values()])
        return {keys[number]: str(text) for number, text in self._db.execute(query, (groups,))}

    def dated_by(self, fact: str) -> str:
        """Who named the day on which a fact is to be forgotten.

        Empty if nobody did, or it was written since.
        """
        query = "SELECT c.actor FROM row r JOIN change c ON c.id = r.change AND c.reason = 'date'"
        found = self._db.execute(f"{query} WHERE r.kind = 'fact' AND r.id = ?", (fact,)).fetchone()
        return str(found[0]) if found else ""

    def has_messages(self, ids: Iterable[int]) -> bool:
        """Whether all of some messages are still there; one may have been taken back."""
        query = "SELECT 1 FROM message WHERE id = ?"
        return all(self._db.execute(query, (id,)).fetchone() for id in ids)

    def message(self, id: int) -> Message | None:
        """A message; ``None`` if it is gone."""
        return next(iter(select_messages(self._db, "WHERE id = ?", (id,))), None)

    def messages_before(self, session: str, message: int | None, limit: int) -> list[Message]:
        """The last messages of a Session before one, in order; ``None``: of all."""
        query = "WHERE session = ? AND id < ? ORDER BY id DESC LIMIT ?"
        return select_messages(self._db, query, (session, message or _FAR, limit))[::-1]

    def answered(self, line: Message) -> Message | None:
        """What a line of the bot answers: the last thing said before it, by its addressee."""
        to = line.to[0].user if line.to else ""
        query = (
            "WHERE session = ? AND id < ? AND at > ? AND sender != ?"
            " AND (sender = ? OR ? = '') ORDER BY id DESC LIMIT 1"
        )
        values = (line.session, line.id, line.at - GAP, BOT, to, to)
        return next(iter(select_messages(self._db, query, values)), None)

    def messages_of(self, episode: Episode, limit: int = _FAR) -> list[Message]:
        """The first messages of an episode, in order."""
        values = (episode.session, episode.first_message, episode.last_message, limit)
        query = "WHERE session = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        return select_messages(self._db, query, values)

    def has_reply(self, session: str, first: int, last: int) -> bool:
        """Whether the bot speaks after a person, from one message of a Session to another."""
        query = (
            "SELECT 1 FROM message WHERE session = :session AND sender = :bot AND id <= :last"
            " AND id > (SELECT id FROM message WHERE session = :session AND sender != :bot"
            " AND id BETWEEN :first AND :last ORDER BY id LIMIT 1) LIMIT 1"
        )
        values = {"session": session, "first": first, "last": last, "bot": BOT}
        return self._db.execute(query, values).fetchone() is not None

    def is_forgotten(self, message: Message) -> bool:
        """Whether a message is not to be recalled, and so not to be learned from."""
        return self.get(Forgotten, Forgotten.of(message.session, message.id).id) is not None

    def batches(self, until: Batch) -> int:
        """How many batches of its Session there were up to one."""
        query = "SELECT count(*) FROM batch WHERE session = ? AND id <= ?"
        return int(self._db.execute(query, (until.session.id, until.id)).fetchone()[0])

    def erasures(self) -> list[tuple[str, str]]:
        """The marks of people who were, or are being, erased for good."""
        return self._db.execute(
            "SELECT key, substr(value, 1, 20) FROM meta"
            " WHERE key LIKE 'erased:%' OR key LIKE 'going:user:%' ORDER BY key"
        ).fetchall()

    def names_in(self, text: str) -> list[Name]:
        """The names whose normalised form occurs in ``text`` (normalised as well)."""
        names = self._db.execute("SELECT id, b FROM row WHERE kind = 'name' AND b != ''")
        found = (self.get(Name, id) for id, norm in names.fetchall() if norm in text)
        return [name for name in found if name is not None]

    def ids(self, cls: type[R], prefix: str, limit: int) -> list[str]:
        """Ids of rows of ``cls`` that begin with ``prefix``, in order, at most ``limit``."""
        found = self._db.execute(
            "SELECT id FROM row WHERE kind = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?",
            (cls.kind, prefix, f"{prefix}\U0010ffff", limit),
        )
        return [id for (id,) in found]

    def scan(self, cls: type[R]) -> Iterator[R]:
        """All readable rows of ``cls`` in order of id, a page of them in memory."""
        query = "SELECT id, data FROM row WHERE kind = ? AND id > ? ORDER BY id LIMIT ?"

        def page(after: str) -> list[tuple[str, str]]:
            return self._db.execute(query, (cls.kind, after, PAGE)).fetchall()

        for id, data in paged(page, "", itemgetter(0)):
            try:
                yield cls.of_data(json.loads(data))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                logger.warning("%s %s cannot be read and is left out: %s", cls.kind, id, error)

    def last_change(self) -> int:
        """Number of the newest change; 0 if there is none."""
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM change").fetchone()[0])


def paged(page: Callable[[K], Sequence[T]], after: K, place: Callable[[T], K]) -> Iterator[T]:
    """Items of pages, each of which begins after the last item of the one before.

    Nothing stays open between the pages: a cursor in use would keep a closed file.

    Args:
        page: Asks for the page after a place; the last one is empty.
        place: Of an item.
    """
    while some := page(after):
        after = place(some[-1])
        yield from some


# ---------------------------------------------------------------------------- notes


def note(db: sqlite3.Connection, key: str, value: str) -> None:
    """Keep a small value beside the memory."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def noted(db: sqlite3.Connection, key: str) -> str | None:
    """A value that was noted, if any was."""
    found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(found[0]) if found else None


def noted_number(db: sqlite3.Connection, key: str) -> int:
    """A number that was noted; 0 if none was."""
    return int(noted(db, key) or 0)


def notes(db: sqlite3.Connection, prefix: str) -> dict[str, str]:
    """The notes whose keys begin with a prefix, by what follows it."""
    query = "SELECT substr(key, ?), value FROM meta WHERE key LIKE ? ORDER BY key"
    return dict(db.execute(query, (len(prefix) + 1, f"{prefix}%")).fetchall())


def unnote(db: sqlite3.Connection, *keys: str) -> None:
    """Delete notes."""
    db.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in keys])


def reserve(db: sqlite3.Connection, numbers: Mapping[str, int], more: int = 0) -> None:
    """Let rows of tables be numbered from above these ids, and ``more``."""
    for table, number in numbers.items():
        query = "UPDATE main.sqlite_sequence SET seq = max(seq, ?) + ? WHERE name = ?"
        if not db.execute(query, (number, more, table)).rowcount:
            query = "INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)"
            db.execute(query, (table, number + more))


# ------------------------------------------------------------------ vectors of texts


def models_of(db: sqlite3.Connection) -> list[str]:
    """The embedding models of which vectors are kept."""
    found: list[str] = []
    while True:  # from one to the next; DISTINCT would read them all
        (model,) = db.execute(
            "SELECT min(model) FROM vector WHERE model > ?", (found[-1] if found else "",)
        ).fetchone()
        if model is None:
            return found
        found.append(model)


def embedded_texts(name: str, text: str) -> set[str]:
    """Texts embedded for a message, if any: with and without name and secrets."""
    return {f"{who}{said}" for who in ("", f"{name}: ") for said in (text, redacted(text))}


def forget_texts(db: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Delete the cached vectors of some texts, of all models."""
    hashes = [text_hash(text) for text in sorted(set(texts)) if text]
    for model in models_of(db) if hashes else ():
        rows = [(model, h) for h in hashes]
        db.executemany("DELETE FROM vector WHERE model = ? AND text_hash = ?", rows)


# -------------------------------------------------------------------------- changes


def write(
    db: sqlite3.Connection, draft: Draft, at: float, tell: Tell | None = None
) -> Change | None:
    """Write ``draft`` inside the open transaction, if there is anything to do.

    There is not if its batch has been learned already, or every row is as wanted. Presence
    follows Sessions that it moves; listeners are told.
    """
    if draft.batch is not None:
        if db.execute("SELECT 1 FROM change WHERE batch = ?", (draft.batch,)).fetchone():
            return None
        query = "UPDATE batch SET state = 'learned', error = '', prompt = ? WHERE id = ?"
        if not db.execute(query, (draft.prompt, draft.batch)).rowcount:
            return None  # it was erased, or a shared server lost it
    ops = [op for op in _ops(db, draft) if op.before != op.after]
    if not ops and draft.batch is None:
        return None
    body = json.dumps([[op.kind, op.id, op.before, op.after] for op in ops], ensure_ascii=False)
    cursor = db.execute(
        "INSERT INTO change (at, actor, reason, batch, undoes, ops) VALUES (?, ?, ?, ?, ?, ?)",
        (at, draft.actor, draft.reason, draft.batch, draft.undoes, body),
    )
    number = int(cursor.lastrowid or 0)
    for op in ops:
        if op.row is None:
            db.execute("DELETE FROM row WHERE kind = ? AND id = ?", (op.kind, op.id))
            continue
        data = json.dumps(op.after, ensure_ascii=False)
        values = (op.kind, op.id, *op.row.index_keys, data, number)
        db.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    done = Change(number, at, draft.actor, draft.reason, tuple(ops), draft.batch, draft.undoes)
    if tell:
        tell(done)
        presence.follow(db, done, tell)
    return done


def _ops(db: sqlite3.Connection, draft: Draft) -> Iterator[Op]:
    wanted: dict[tuple[str, str], Data | None] = {
        (row.kind, row.id): masked(row.kind, encode(row)) for row in draft.put
    }
    wanted.update(dict.fromkeys(draft.drop))
    for (kind, id), after in wanted.items():
        found = db.execute("SELECT data FROM row WHERE kind = ? AND id = ?", (kind, id)).fetchone()
        yield Op(kind, id, json.loads(found[0]) if found else None, after)


def read_change(db: sqlite3.Connection, number: int) -> Change | None:
    """One change, or ``None``."""
    query = "SELECT id, at, actor, reason, ops, batch, undoes FROM change WHERE id = ?"
    found = db.execute(query, (number,)).fetchone()
    if found is None:
        return None
    id, at, actor, reason, ops, batch, undoes = found
    return Change(id, at, actor, reason, tuple(Op(*op) for op in json.loads(ops)), batch, undoes)


def rewrite_log(
    db: sqlite3.Connection,
    numbers: Iterable[int],
    left: Callable[[str, str, Data | None, int], Data | None],
) -> None:
    """Reduce states in changes to what ``left(kind, id, state, number)`` leaves."""
    for number in numbers:
        (text,) = db.execute("SELECT ops FROM change WHERE id = ?", (number,)).fetchone()
        before = json.loads(text)
        after = [
            [kind, id, left(kind, id, was, number), left(kind, id, became, number)]
            for kind, id, was, became in before
        ]
        after = [op for op in after if op[2:] != [None, None]]
        if after != before:
            body = json.dumps(after, ensure_ascii=False)
            db.execute("UPDATE change SET ops = ? WHERE id = ?", (body, number))


def blank_log(
    db: sqlite3.Connection,
    numbers: Iterable[int],
    goes: Callable[[type[Row], str, Data, int], bool],
) -> None:
    """Blank the words of states in changes that ``goes(class, id, state, number)``."""

    def left(kind: str, id: str, state: Data | None, number: int) -> Data | None:
        cls = kind_named(kind)
        if not state or not cls or not goes(cls, id, state, number):
            return state
        return {**state, **dict.fromkeys(cls.words, "")}

    rewrite_log(db, numbers, left)


def unsaid(rows: Rows, session: str, messages: Iterable[int]) -> list[Row]:
    """The rows by which messages, and summaries that tell of them, are not recalled."""
    ids = set(messages)
    muted = [Forgotten.of(session, id) for id in sorted(ids)]
    # A summary tells what it sums up; what else it tells is in the other rows.
    untold = [
        retold(rows, each, lambda said: said.id in ids) for each in rows.episodes_of(session, ids)
    ]
    return [*muted, *untold]


def retold(rows: Rows, episode: Episode, goes: Callable[[Message], bool]) -> Episode:
    """An episode that had a summary with one of what is left, without a model.

    Records, which sum up episodes, are written anew from these.
    """
    if not episode.summary or episode.is_record or not episode.last_message:
        return replace(episode, summary="")
    session = rows.get(Session, episode.session)
    left = [
        said
        for said in map(disclosed, rows.messages_of(episode))
        if said.is_human and not (goes(said) or rows.is_forgotten(said))
        if says_something(terms(said.text))
        if not (session and session.is_group and in_confidence(said))
    ]
    lines = [f"{said.name}: {said.text}" if said.name else said.text for said in left]
    is_kept = episode.confidential or any(map(in_confidence, left))
    return replace(episode, summary=digest(lines, RETOLD), confidential=is_kept)


def undoable(db: sqlite3.Connection, number: int) -> Change:
    """A change that can be taken back; otherwise ``NotFoundError`` says why not."""
    change = read_change(db, number)
    if change is None:
        raise NotFoundError(f"there is no change {number}")
    if change.actor == "chat" or change.reason == UNDO_IMPORT:
        raise NotFoundError(f"change {number} is what was said in a chat, or took words back")
    if change.is_trimmed:
        text = f"change {number} is too old: what was there before is not known any more"
        raise NotFoundError(text).told("undo_old")
    if db.execute("SELECT 1 FROM change WHERE undoes = ?", (number,)).fetchone():
        raise NotFoundError(f"change {number} has been undone already")
    return change


def inverse(db: sqlite3.Connection, number: int, actor: str) -> Draft:
    """The draft that takes change ``number`` back, see :func:`undoable`.

    What was told since of a conversation, and how things were called then, stays.

    Raises:
        ConflictError: A later change touched another of its rows, or corrected what it told,
            and stands; or all that it told was taken back since.
    """
    change = undoable(db, number)
    if later := _corrected_by(db, change):
        raise ConflictError(number, later)
    is_first = change.batch is None and change.undoes is None
    draft, is_gone = Draft(actor, "undo", undoes=number), False
    for op in change.ops:
        query = "SELECT r.data, r.change, c.undoes FROM row r LEFT JOIN change c ON c.id = r.change"
        found = db.execute(f"{query} WHERE kind = ? AND r.id = ?", (op.kind, op.id)).fetchone()
        data, last, undoes = found or ("null", 0, None)
        if json.loads(data) != op.after or (found and last != number and undoes is None):
            cls = kind_named(op.kind)
            is_derived = cls is not None and cls.basis is Basis.LEARNED
            if is_first and (is_derived or op.kind in (Episode.kind, Name.kind, Mention.kind)):
                continue
            raise ConflictError(number, last or _deleted_by(db, op, number))
        if op.before is None and not (op.kind == "session" and is_used(db, op.id, number)):
            draft.drop.append((op.kind, op.id))
        elif op.before is not None:
            row = decode(op.kind, op.before)
            # What it was said in was taken back meanwhile.
            if row.words and (row.cited or op.kind == Name.kind) and not getattr(row, row.words[0]):
                is_gone |= bool(row.cited)
                continue
            if change.reason == EXPIRED and isinstance(row, Fact):
                row = replace(row, expires=None)  # it is to stay
            draft.put.append(row)
            if op.after is None:  # things of which nothing was known meanwhile may be gone
                nodes = (getattr(row, field) for field in row.nodes)
                draft.put += [Entity(node) for node in nodes if is_entity(node)]
    if is_gone and not any(row.cited for row in draft.put):
        raise ConflictError(number, number)
    return draft


def is_used(db: sqlite3.Connection, session: str, number: int = 0) -> bool:
    """Whether a Session holds more than change ``number``, and so stays."""
    query = "SELECT 1 FROM message WHERE session = :session UNION ALL SELECT 1 FROM row WHERE"
    query += " session = :session AND kind != 'session' AND change != :change LIMIT 1"
    return bool(db.execute(query, {"session": session, "change": number}).fetchone())


def _corrected_by(db: sqlite3.Connection, change: Change) -> int:
    """The later change that replaced, in the same chat, what this one told; or 0."""
    new = [op.id for op in change.ops if op.kind == Fact.kind and not (op.before or change.batch)]
    query = "SELECT max(r.change) FROM replacement p JOIN row r ON r.kind = :fact AND r.id = p.new"
    query += " JOIN row o ON o.kind = :fact AND o.id = p.old AND o.session = r.session"
    query += " WHERE p.old IN (SELECT value FROM json_each(:new)) AND r.change > :number"
    values = {"fact": Fact.kind, "new": json.dumps(new), "number": change.id}
    (later,) = db.execute(query, values).fetchone()
    return later or 0


def _deleted_by(db: sqlite3.Connection, op: Op, number: int) -> int:
    query = "SELECT id, ops FROM change WHERE id > ? ORDER BY id DESC"
    for later, body in db.execute(query, (number,)):
        if any([kind, id] == [op.kind, op.id] for kind, id, _, _ in json.loads(body)):
            return int(later)
    return number


# ------------------------------------------------------------------------- derived rows


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived rows (``Basis.LEARNED``) of one Session, as they were before.

    Learning rewrites them from one batch to the next, and they name no messages. So they go back
    as a whole when a message is retracted, or confided to who is not alone with the bot.

    Attributes:
        learned: The change that learned the first of the batches; 0 if there is none.
        before: The states before it of rows rewritten since.
    """

    learned: int = 0
    before: dict[tuple[str, str], Data | None] = field(default_factory=dict)

    @classmethod
    def since(cls, db: sqlite3.Connection, session: str, batches: Sequence[int]) -> Derived:
        """Look through what came of a Session since some batches were learned."""
        query = "SELECT min(id) FROM change WHERE batch IN (SELECT value FROM json_each(?))"
        (learned,) = db.execute(query, (json.dumps(batches),)).fetchone()
        before: dict[tuple[str, str], Data | None] = {}
        kinds = [kind for kind in registered() if kind.basis is Basis.LEARNED]
        if learned is None:
            return cls()
        if learned <= noted_number(db, TRIMMED):  # what stood before is not known any more
            rows = (row for kind in kinds for row in Rows(db).find(kind, session=session))
            return cls(learned, {(row.kind, row.id): None for row in rows})
        needle, names = json.dumps(session, ensure_ascii=False), {k.kind for k in kinds}
        query = "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id"
        for (text,) in db.execute(query, (learned, needle)):
            for kind, id, was, became in json.loads(text):
                if kind in names and (was or became)["session"] == session:
                    before.setdefault((kind, id), was)
        return cls(learned, before)

    def bring_back(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Enter what was before."""
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            draft.put.append(row.brought_back(Rows(db).get(type(row), id) or row, at))

    def blank(self, db: sqlite3.Connection, session: str) -> None:
        """Take the words that did not stand before out of the log."""
        query = "SELECT id FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id"
        values = (self.learned, json.dumps(session, ensure_ascii=False))
        found = db.execute(query, values).fetchall() if self.before else ()
        blank_log(db, (number for (number,) in found), self.differs)

    def differs(self, cls: type[Row], id: str, state: Data, change: int) -> bool:
        """Whether a state that a change found or left has words that did not stand before."""
        if change < self.learned or (cls.kind, id) not in self.before:
            return False
        stands = self.before[cls.kind, id] or {}
        return any(state.get(field, "") != stands.get(field, "") for field in cls.words)
