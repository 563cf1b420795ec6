"""One step from some nodes along the facts of some Sessions; run on the reader's thread.

A walk is made of such steps, so that whoever walks can look at each fact before going on:
the graph knows Sessions, but not who was there when something was said.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from ..model import Status
from .engine import Connection

_STEP: Final = (
    "MATCH (n:User:Entity)-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
    " WHERE n.id IN $ids AND f.session IN $sessions AND f.status = $status AND n.id <> m.id"
    " RETURN f.id, n.id, m.id ORDER BY f.id, n.id"
)


@dataclass(frozen=True, slots=True)
class Step:
    """That an active fact leads from a node to another one, whichever its subject is."""

    fact: str
    source: str
    target: str


def steps(reader: Connection, nodes: Collection[str], sessions: Collection[str]) -> list[Step]:
    """See ``GraphStore.steps``."""
    if not nodes or not sessions:  # Kùzu cannot tell the type of an empty list
        return []
    values = {
        "ids": sorted(nodes),
        "sessions": sorted(sessions),
        "status": Status.ACTIVE.value,
    }
    with reader.transaction(read_only=True):
        return [Step(*row) for row in reader.run(_STEP, values)]
