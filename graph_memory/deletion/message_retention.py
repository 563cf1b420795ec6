"""Message retention: deletion of old messages, log entries and vectors.

It is no change and cannot be undone: summaries keep what the messages said.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from ..model import Basis, Erased, Session, registered
from ..retention import DAY
from ..store import Journal
from ..store.messages import by_ids
from ..store.rows import (
    THINNED_COUNT,
    TRIMMED,
    Rows,
    Tell,
    embedded_texts,
    forget_texts,
    models_of,
    note,
    noted,
    trimmed,
)

THINNED = "thinned"
"""Note: the newest batch of which messages were deleted because they were old."""
LOG_KEPT = 90 * DAY
"""For so long the change log says what rows were and became; then only how many."""
SLICE = 200
"""Messages, or changes, in one transaction."""
PRUNED = 500
"""Vectors in one transaction."""
SPARE = 14 * DAY
"""For so long the vectors of a model that was replaced are kept: people try and go back."""
_MODELS = "embedding.used"

Pause = Callable[[], Awaitable[object]]
"""Waits until nobody chats."""


async def thin(journal: Journal, before: float, pause: Pause) -> int:
    """Delete old messages that nothing rests on; see :func:`thin_some`."""
    sessions = await journal.read(lambda rows: [row.id for row in rows.scan(Session)])
    thinned = 0
    for session in sessions:
        after, is_more = 0, True
        while is_more:
            await pause()
            count, after = await journal.alter(partial(thin_some, session, before, after))
            thinned += count
            is_more = after > 0
    return thinned


def thin_some(
    session: str, before: float, after: int, db: sqlite3.Connection, tell: Tell
) -> tuple[int, int]:
    """Delete a slice of a Session's old messages inside the open transaction.

    Only those that were learned from, are cited by no fact (an archived one may come back)
    and are told by the summary of their own conversation.

    Args:
        before: Messages from before this time are old.
        after: Id of the message after which to look.

    Returns:
        How many were deleted, and the id up to which was looked; 0 at the end.
    """
    old = db.execute(
        "SELECT m.id, m.at, b.id, b.state FROM message m JOIN batch b ON b.id = m.batch"
        " WHERE m.session = ? AND m.id > ? AND m.at < ? ORDER BY m.id LIMIT ?",
        (session, after, before, SLICE),
    ).fetchall()
    if not old:
        return 0, 0
    first, last = old[0][0], old[-1][0]
    citing = [cls.kind for cls in registered() if cls.basis in (Basis.ANY, Basis.EACH)]
    cited = {
        id
        for (id,) in db.execute(
            "SELECT e.value FROM row f, json_each(f.data, '$.evidence') e"
            " WHERE f.kind IN (SELECT value FROM json_each(?)) AND f.session = ?"
            " AND e.value BETWEEN ? AND ?",
            (json.dumps(citing), session, first, last),
        )
    }
    episodes = Rows(db).episodes_of(session, (id for id, *_ in old))
    told = [each for each in episodes if each.summary and not each.is_record]
    going = {
        id: batch
        for id, at, batch, state in old
        if state == "learned"
        and id not in cited
        and any(
            each.first_message <= id <= each.last_message and each.started_at <= at <= each.ended_at
            for each in told
        )
    }
    _thin(db, going, tell)
    return len(going), last if len(old) == SLICE else 0


def _thin(db: sqlite3.Connection, going: dict[int, int], tell: Tell) -> None:
    if not going:
        return
    delete_messages(db, going)
    note(db, THINNED, str(max(_number(db, THINNED), *going.values())))
    note(db, THINNED_COUNT, str(_number(db, THINNED_COUNT) + len(going)))
    tell(Erased(tuple(going), is_aged=True))


def _number(db: sqlite3.Connection, key: str) -> int:
    return int(noted(db, key) or 0)


def delete_messages(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Delete messages, their vectors, and what a model answered, which may quote them."""
    said = by_ids(db, ids)
    forget_texts(db, (t for m in said for t in embedded_texts(m.name, m.text)))
    batches = {(each.batch,) for each in said}
    query = "UPDATE batch SET error = '' WHERE id = ? AND error != '' AND state != 'learned'"
    db.executemany(query, batches)
    db.executemany("DELETE FROM message WHERE id = ?", [(each.id,) for each in said])


async def trim_log(journal: Journal, now: float) -> int:
    """Reduce changes older than :data:`LOG_KEPT` to counts; returns how many changes."""
    done = 0
    while count := await journal.alter(partial(_trim, now - LOG_KEPT, now)):
        done += count
    return done


def _trim(before: float, now: float, db: sqlite3.Connection, _tell: Tell) -> int:
    # Those of a clock that was ahead go with the next one that is old, and hold up none.
    old = db.execute(
        "SELECT id, ops FROM change WHERE id > :done AND id <= (SELECT max(id) FROM change"
        " WHERE id > :done AND at < :before AND id < ifnull((SELECT min(id) FROM change"
        " WHERE id > :done AND at BETWEEN :before AND :now), 1 << 62)) ORDER BY id LIMIT :slice",
        {"done": trimmed(db), "before": before, "now": now, "slice": SLICE},
    ).fetchall()
    for number, ops in old:
        counted = json.dumps([[kind, "", None, None] for kind, *_ in json.loads(ops)])
        db.execute("UPDATE change SET ops = ? WHERE id = ?", (counted, number))
    if old:
        note(db, TRIMMED, str(old[-1][0]))
    return len(old)


async def prune(journal: Journal, used: str, now: float, pause: Pause) -> int:
    """Delete the vectors of models not in use for :data:`SPARE`; returns how many.

    Args:
        used: The model in use; if empty, nothing is deleted.
    """
    if not used:
        return 0
    there = await journal.look(models_of)
    known = json.loads(await journal.note(_MODELS) or "{}")
    last = {model: min(now, float(known.get(model, now))) for model in there} | {used: now}
    raw = f"{used.rpartition('~')[0]} "  # what it was calibrated by: see ``vectors.calibrate``
    last |= {model: now for model in there if model.startswith(raw)}
    pruned = 0
    for model in [model for model, at in last.items() if now - at >= SPARE]:
        while count := await journal.alter(partial(_prune, model)):
            pruned += count
            await pause()
        del last[model]
    await journal.set_note(_MODELS, json.dumps(last))
    return pruned


def _prune(model: str, db: sqlite3.Connection, _tell: Tell) -> int:
    return db.execute(
        "DELETE FROM vector WHERE model = :model AND text_hash IN"
        " (SELECT text_hash FROM vector WHERE model = :model LIMIT :limit)",
        {"model": model, "limit": PRUNED},
    ).rowcount
