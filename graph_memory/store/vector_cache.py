"""The cache of vectors, by model and hash of the text."""

from __future__ import annotations

import sqlite3

import numpy as np

from ..ports import Vectors


def read(db: sqlite3.Connection, model: str, hashes: list[bytes]) -> dict[bytes, Vectors]:
    """Vectors of ``model``, each of shape ``(dim,)``; missing ones are left out."""
    query = "SELECT data FROM vector WHERE model = ? AND text_hash = ?"
    found = ((h, db.execute(query, (model, h)).fetchone()) for h in hashes)
    return {h: np.frombuffer(row[0], np.float32) for h, row in found if row}


def put(db: sqlite3.Connection, model: str, vectors: dict[bytes, Vectors]) -> None:
    """Keep vectors of ``model``, each of shape ``(dim,)``."""
    rows = [(model, h, np.asarray(v, np.float32).tobytes()) for h, v in vectors.items()]
    db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)


def forget(db: sqlite3.Connection, hashes: list[bytes]) -> None:
    """Delete the vectors of some texts, of all models."""
    for (model,) in db.execute("SELECT DISTINCT model FROM vector").fetchall():
        db.executemany(
            "DELETE FROM vector WHERE model = ? AND text_hash = ?", [(model, h) for h in hashes]
        )
