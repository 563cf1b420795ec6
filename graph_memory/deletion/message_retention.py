"""Message retention: deletion of old messages, log entries and vectors.

It is no change and cannot be undone: summaries keep what the messages said.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial

from ..model import Basis, Erased, registered
from ..retention import DAY
from ..store import Journal, contents
from ..store.journal import Slices
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
    noted_number,
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


def thin(db: sqlite3.Connection, tell: Tell, before: float) -> Slices[int]:
    """Delete messages from before a time that nothing rests on; returns how many.

    Only those that were learned from, are cited by no fact (an archived one may come back)
    and are told by the summary of their own conversation.
    """
    thinned = 0
    query = "SELECT m.id, m.at, b.id, b.state FROM message m JOIN batch b ON b.id = m.batch"
    query += " WHERE m.session = ? AND m.id > ? AND m.at < ? ORDER BY m.id LIMIT ?"
    for session in contents.sessions(db):
        after = 0
        while old := db.execute(query, (session, after, before, SLICE)).fetchall():
            after = old[-1][0]
            if going := _going(db, session, old):
                delete_messages(db, going)
                note(db, THINNED, str(max(noted_number(db, THINNED), *going.values())))
                note(db, THINNED_COUNT, str(noted_number(db, THINNED_COUNT) + len(going)))
                tell(Erased(tuple(going), is_aged=True))
            thinned += len(going)
            yield
        yield  # to have looked in vain takes its time, too
    return thinned


def _going(
    db: sqlite3.Connection, session: str, old: Sequence[tuple[int, float, int, str]]
) -> dict[int, int]:
    """Those of some messages that may go, with their batches."""
    citing = [cls.kind for cls in registered() if cls.basis in (Basis.ANY, Basis.EACH)]
    cited = {
        id
        for (id,) in db.execute(
            "SELECT e.value FROM row f, json_each(f.data, '$.evidence') e"
            " WHERE f.kind IN (SELECT value FROM json_each(?)) AND f.session = ?"
            " AND e.value BETWEEN ? AND ?",
            (json.dumps(citing), session, old[0][0], old[-1][0]),
        )
    }
    episodes = Rows(db).episodes_of(session, (id for id, *_ in old))
    told = [each for each in episodes if each.summary and not each.is_record]
    return {
        id: batch
        for id, at, batch, state in old
        if state == "learned"
        and id not in cited
        and any(
            each.first_message <= id <= each.last_message and each.started_at <= at <= each.ended_at
            for each in told
        )
    }


def delete_messages(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Delete messages, their vectors, and what a model answered, which may quote them."""
    said = by_ids(db, ids)
    forget_texts(db, (t for m in said for t in embedded_texts(m.name, m.text)))
    batches = {(each.batch,) for each in said}
    query = "UPDATE batch SET error = '' WHERE id = ? AND error != '' AND state != 'learned'"
    db.executemany(query, batches)
    db.executemany("DELETE FROM message WHERE id = ?", [(each.id,) for each in said])


def trim_log(db: sqlite3.Connection, _tell: Tell, now: float) -> Slices[int]:
    """Reduce changes older than :data:`LOG_KEPT` to counts; returns how many changes."""
    done = 0
    # Those of a clock that was ahead go with the next one that is old, and hold up none.
    query = (
        "SELECT id, ops FROM change WHERE id > :done AND id <= (SELECT max(id) FROM change"
        " WHERE id > :done AND at < :before AND id < ifnull((SELECT min(id) FROM change"
        " WHERE id > :done AND at BETWEEN :before AND :now), 1 << 62)) ORDER BY id LIMIT :slice"
    )
    about = {"before": now - LOG_KEPT, "now": now, "slice": SLICE}
    while old := db.execute(query, {"done": noted_number(db, TRIMMED), **about}).fetchall():
        for number, ops in old:
            counted = json.dumps([[kind, "", None, None] for kind, *_ in json.loads(ops)])
            db.execute("UPDATE change SET ops = ? WHERE id = ?", (counted, number))
        note(db, TRIMMED, str(old[-1][0]))
        done += len(old)
        yield
    return done


async def prune(journal: Journal, used: str, now: float) -> int:
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
    old = [model for model, at in last.items() if now - at >= SPARE]
    pruned = await journal.in_slices(partial(_prune, old)) if old else 0
    kept = {model: at for model, at in last.items() if model not in old}
    await journal.set_note(_MODELS, json.dumps(kept))
    return pruned


def _prune(models: Iterable[str], db: sqlite3.Connection, _tell: Tell) -> Slices[int]:
    pruned = 0
    query = "DELETE FROM vector WHERE model = :model AND text_hash IN"
    query += " (SELECT text_hash FROM vector WHERE model = :model LIMIT :limit)"
    for model in models:
        while count := db.execute(query, {"model": model, "limit": PRUNED}).rowcount:
            pruned += count
            yield
    return pruned
