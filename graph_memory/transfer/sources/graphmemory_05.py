"""Source: JSON exports of GraphMemory 0.3 to 0.5, entities and relations.

They do not say who told what to whom, so all of it goes where the owner says; only a file
that names a single chat belongs there by itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import FormatError
from ...model import (
    BOT,
    PREDICATES,
    Entity,
    EntityType,
    Fact,
    Mention,
    Name,
    Row,
    Session,
    stable_id,
)
from ...retention import initial_half_life
from ...text import clean, is_chinese, normalise, one_line, told_by
from . import Options, Pieces, objects, place_of

MAX_SIZE = 256 << 20
"""Bytes of a file: it is read as a whole."""
_TYPES = {each.value: each for each in EntityType if each is not EntityType.BOT}


def read_graphmemory_05(path: Path, options: Options) -> Pieces:
    """Entities, and what is said about them, as facts.

    Raises:
        FormatError: It is no such export, or nobody says where it belongs.
    """
    data = _data(path)
    session = options.session() or _only_session(data["sessions"], options)
    if session is None:
        reason = "the file does not say in which chat it was learned; choose one"
        raise FormatError(reason, 0, "into").told("whose")
    builder = _RowBuilder(session, options.now)
    for number, each in enumerate(data["entities"], 1):
        builder.entity(each, f"entities[{number}]")
    for number, each in enumerate(data["relations"], 1):
        builder.relation(each, f"relations[{number}]")
    yield session
    yield from builder.rows.values()


def _data(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MAX_SIZE:
        size = f"{MAX_SIZE >> 20} MiB"
        raise FormatError(f"is larger than {size}").told("too_large", name=path.name, size=size)
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        content = data.get("content") if isinstance(data, dict) else None
        data = json.loads(content) if isinstance(content, str) else data
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is no JSON: {error}").told("no_json") from None
    if not isinstance(data, dict):
        raise FormatError("is no object")
    for name in ("entities", "relations", "sessions"):
        if not isinstance(data.setdefault(name, []), list):
            raise FormatError("is no list", 0, name)
    return data


def _only_session(sessions: list[Any], options: Options) -> Session | None:
    found = objects(sessions)
    place = place_of(found[0].get("id"), options.platforms) if len(found) == 1 else None
    if place is None:
        return None
    persona = found[0].get("persona_id")
    persona = persona if isinstance(persona, str) and persona != "default" else ""
    return place.session(persona or options.persona)


class _RowBuilder:
    """Rows made of one export.

    Args:
        at: When it counts as said; the file does not tell.
    """

    def __init__(self, session: Session, at: float) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self._here = session
        self._at = at

    def entity(self, data: Any, where: str) -> None:
        """An entity, and its description as a fact."""
        name = _text(data, "name", where)
        node = self._node(name, str(data.get("type") or ""))
        description = clean(str(data.get("description") or ""), 300)
        if description:
            told = told_by(name, description, 300)
            self._fact(node, "other", node, told, data.get("importance"))

    def relation(self, data: Any, where: str) -> None:
        """A relation of two entities as a fact."""
        ends = [_text(data, end, where) for end in ("from", "to")]
        relation = one_line(_text(data, "relation", where), 64)
        subject, object = (self._node(end, "") for end in ends)
        predicate = relation.casefold() if relation.casefold() in PREDICATES else "other"
        evidence = clean(str(data.get("evidence") or ""), 300)
        space = "" if is_chinese("".join(ends)) else " "
        told = evidence or space.join((ends[0], relation, ends[1]))
        self._fact(subject, predicate, object, told, data.get("strength"))

    def _node(self, name: str, type: str) -> str:
        norm, here, at = normalise(name), self._here, self._at
        node = stable_id("e", here.circle, norm)  # nobody says whether it is known elsewhere
        kind = _TYPES.get(type.casefold(), EntityType.TOPIC)
        self._put(Entity(node))
        self._put(Name(Name.key(here.id, node, norm), here.id, node, name, norm, at, at))
        id = Mention.key(here.id, node)
        if (Mention.kind, id) not in self.rows or kind is not EntityType.TOPIC:
            self._put(Mention(id, here.id, node, kind.value, at, at))
        return node

    def _fact(self, subject: str, predicate: str, object: str, told: str, weight: Any) -> None:
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        importance = float(min(1, max(0, weight))) if is_number else 0.5
        here, at = self._here, self._at
        self._put(
            Fact(
                stable_id("f", here.id, subject, predicate, object, normalise(told), "0.5"),
                here.id,
                subject,
                predicate,
                object,
                told,
                speaker=here.owner or BOT,
                said_at=at,
                recorded_at=at,
                last_used=at,
                half_life=initial_half_life(importance),
                importance=importance,
            )
        )

    def _put(self, row: Row) -> None:
        self.rows[row.kind, row.id] = row


def _text(data: Any, name: str, where: str) -> str:
    found = data.get(name) if isinstance(data, dict) else None
    text = one_line(found, 200) if isinstance(found, str) else ""
    if not text:
        raise FormatError("is missing or no text", 0, f"{where}.{name}")
    return text
