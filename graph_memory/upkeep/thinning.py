"""Letting go of what is not needed: old messages, vectors of models of the past.

What goes here was kept for its words alone, and they are told elsewhere; so it is no
change and cannot be undone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from ..embedding import text_hash
from ..journal import Journal, aging
from ..model import Session
from ..retention import DAY
from .lull import Lull

LOOKED_AT = 200
"""Messages in one transaction."""
PRUNED = 500
"""Vectors in one transaction."""
SPARE = 14 * DAY
"""For so long the vectors of a model that was replaced are kept: people try and go back."""
_MODELS = "embedding.used"


async def thin(journal: Journal, before: float, lull: Lull) -> int:
    """Delete the messages from before a time that nothing rests on; see ``aging.thin``."""
    sessions = await journal.read(lambda rows: [row.id for row in rows.scan(Session)])
    thinned = 0
    for session in sessions:
        after = 0
        while True:
            await lull.wait()
            count, after = await journal.alter(_slice(session, before, after))
            thinned += count
            if not after:
                break
    return thinned


def _slice(
    session: str, before: float, after: int
) -> Callable[[sqlite3.Connection, aging.Tell], tuple[int, int]]:
    def work(db: sqlite3.Connection, tell: aging.Tell) -> tuple[int, int]:
        return aging.thin(db, session, before, after, LOOKED_AT, text_hash, tell)

    return work


async def prune(journal: Journal, used: str, now: float, lull: Lull) -> int:
    """Delete the vectors of models that have not been in use for :data:`SPARE`.

    Args:
        used: The model in use; empty for none, which says nothing about the others.

    Returns:
        How many vectors were deleted.
    """
    if not used:
        return 0
    there = await journal.look(aging.models)
    known = json.loads(await journal.note(_MODELS) or "{}")
    last = {model: min(now, float(known.get(model, now))) for model in there} | {used: now}
    pruned = 0
    for model in [model for model, at in last.items() if now - at >= SPARE]:
        while count := await journal.alter(_some(model)):
            pruned += count
            await lull.wait()
        del last[model]
    await journal.set_note(_MODELS, json.dumps(last))
    return pruned


def _some(model: str) -> Callable[[sqlite3.Connection, object], int]:
    return lambda db, _: aging.prune(db, model, PRUNED)
