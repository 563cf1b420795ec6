"""The file a memory is taken away in: one JSON object a line (``docs/data-format.md``).

The same memory makes the same bytes: keys in order, no spaces, nothing that depends on
when or where it was written. Whatever is read is checked to the last field before anything
is made of it, and the error says on which line and in which field.
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..errors import FormatError
from ..journal.contents import Claim
from ..model import (
    GROUP,
    PRIVATE,
    Addressee,
    Message,
    Name,
    Presence,
    Row,
    Session,
    decode,
    encode,
    is_entity,
    kind_named,
    user_id,
)
from ..text import MAX_MESSAGE, clean, clean_name, normalise

FORMAT = "graph-memory"
VERSION = 1
MAX_LINE = 1 << 20
"""Bytes of one line."""
MAX_TEXT = 20_000
"""Characters of one text."""
MAX_KEY = 500
"""Characters of an id."""
MAX_LIST = 5_000
MAX_NUMBER = 1 << 53
MAX_TIME = 1e11
_STATES = ("waiting", "learned", "dead")
_KEYS = ("id", "session", "sender", "ref", "subject", "object", "node", "entity", "user", "umo")
_TEXTS = ("text", "statement", "summary", "title")

Pause = tuple[str, str, float]
Piece = Row | Message | Claim | Presence | Pause
Data = dict[str, Any]


def line(data: Mapping[str, Any]) -> str:
    """One line of a file, with its end."""
    return (
        json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        + "\n"
    )


def header(scope: str, person: str = "") -> Data:
    """The first line.

    Args:
        scope: ``everything`` or ``person``.
    """
    return {"kind": "header", "format": FORMAT, "version": VERSION, "scope": scope} | (
        {"person": person} if person else {}
    )


def end(lines: int) -> Data:
    """The last line; without it a file is cut off.

    Args:
        lines: How many come before it, the header included.
    """
    return {"kind": "end", "lines": lines}


def pack(piece: Piece) -> Data:
    """A piece of a memory as a line's data; :func:`unpack` is its inverse."""
    match piece:
        case Message():
            to = [[each.user, each.name, each.quoted] for each in piece.to]
            data = {f.name: getattr(piece, f.name) for f in dataclasses.fields(piece)}
            return {"kind": "message", **data, "to": to}
        case Claim():
            return {"kind": "batch", **dataclasses.asdict(piece)}
        case Presence():
            return {"kind": "presence", **dataclasses.asdict(piece)}
        case (of, id, at):
            return {"kind": "pause", "of": of, "id": id, "at": at}
        case _:
            return {"kind": "row", "type": piece.kind, "data": encode(piece)}


def parse(text: str, number: int) -> Data:
    """The object on one line.

    Raises:
        FormatError: There is none.
    """
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is no JSON: {error}", number).told("no_json") from None
    if not isinstance(data, dict):
        raise FormatError("is no object", number)
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def unpack(data: Data, number: int) -> Piece:
    """The piece of a memory that a line holds.

    Raises:
        FormatError: It holds none, or one that could not have been written.
    """
    try:
        match data.get("kind"):
            case "row":
                return _row(data)
            case "message":
                return _message(data)
            case "batch":
                _require(data, _fields_of(Claim))
                if data["state"] not in _STATES or data["id"] < 1:
                    raise _WrongError("state" if data["id"] >= 1 else "id", "is not possible")
                return Claim(data["id"], data["session"], data["state"], data["at"])
            case "presence":
                _require(data, _fields_of(Presence))
                if data["until"] is not None and data["until"] < data["since"]:
                    raise _WrongError("until", "is before since")
                return Presence(data["circle"], data["user"], data["since"], data["until"])
            case "pause":
                _require(data, {"of": _text, "id": _key, "at": _time})
                if data["of"] not in ("user", "circle"):
                    raise _WrongError("of", "is neither user nor circle")
                return data["of"], data["id"], data["at"]
            case _:
                raise _WrongError("kind", "is unknown")
    except _WrongError as error:
        raise FormatError(error.reason, number, error.field) from None


class _WrongError(Exception):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT and is_storable(value)


def _key(value: Any) -> bool:
    return _text(value) and len(value) <= MAX_KEY


def is_storable(value: str) -> bool:
    """Whether a text can be written down: JSON can spell halves of characters."""
    return value.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER


def _number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and abs(value) <= MAX_TIME


def _time(value: Any) -> bool:
    return _number(value)


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _many(check: Check) -> Check:
    return lambda value: (
        isinstance(value, list) and len(value) <= MAX_LIST and all(map(check, value))
    )


_CHECKS: dict[Any, Check] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: lambda value: isinstance(value, bool),
    float | None: _optional(_number),
    int | None: _optional(_whole),
    tuple[str, ...]: _many(_key),
    tuple[int, ...]: _many(_whole),
}


@cache
def _fields_of(cls: type) -> dict[str, Check]:
    """What every field of a dataclass has to be like, by its annotation."""
    hints = typing.get_type_hints(cls)
    return {
        field.name: _key
        if field.name in _KEYS and hints[field.name] is str
        else _CHECKS[hints[field.name]]
        for field in dataclasses.fields(cls)
    }


def _require(data: Data, fields: Mapping[str, Check], but: tuple[str, ...] = ("kind",)) -> None:
    for name in data:
        if name not in fields and name not in but:
            raise _WrongError(str(name)[:40], "is unknown")
    for name, check in fields.items():
        if name not in data:
            raise _WrongError(name, "is missing")
        if not check(data[name]):
            raise _WrongError(name, "has a value that is not possible")


def _row(data: Data) -> Row:
    _require(data, {"type": _text, "data": lambda value: isinstance(value, dict)})
    cls: Any = kind_named(data["type"])
    if cls is None:
        raise _WrongError("type", "is unknown")
    _require(data["data"], _fields_of(cls), but=())
    row = decode(data["type"], _cleaned(cls, data["data"]))
    if not row.id:
        raise _WrongError("id", "is empty")
    if isinstance(row, Session):
        _session(row)
    return row


def _cleaned(cls: type, data: Data) -> Data:
    """Fields whose texts and names are as they would be, had they been said here."""
    found = {key: clean(v, MAX_TEXT) if key in _TEXTS else v for key, v in data.items()}
    if cls is Name:
        text = found["text"] if is_entity(data["node"]) else clean_name(data["text"])
        found.update(text=text, norm=normalise(text))
    return found


def _session(row: Session) -> None:
    """Scope goes by these fields, so one must not say another thing than the others."""
    if not row.id.endswith(f"#{row.persona}"):  # the chat itself may have moved, see remap.py
        raise _WrongError("id", "is not that of its persona")
    platform, kind, key = [*row.circle.split(":", 2), "", ""][:3]
    owner = user_id(platform, key) if kind == PRIVATE else ""
    if not platform or not key or kind not in (PRIVATE, GROUP):
        raise _WrongError("circle", "is neither a group nor a private chat")
    if row.owner != owner:
        raise _WrongError("owner", "is not that of its circle")


def _message(data: Data) -> Message:
    fields = _fields_of(_Line)
    _require(data, {**fields, "to": _many(_addressee)})
    if data["id"] < 1:
        raise _WrongError("id", "is below 1")
    text = data["text"]
    if not text or len(text) > MAX_MESSAGE:
        raise _WrongError("text", "is empty or too long")
    to = tuple(Addressee(user, clean_name(name), quoted) for user, name, quoted in data["to"])
    said = Message(**{name: data[name] for name in fields}, to=to)
    # Nothing that nobody sees comes in, not even as all that somebody once said.
    return dataclasses.replace(said, name=clean_name(said.name), text=clean(text) or "…")


def _addressee(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and _key(value[0])
        and _text(value[1])
        and (value[2] is None or _whole(value[2]))
    )


@dataclasses.dataclass
class _Line:
    """The fields of a message but for whom it turns to."""

    id: int
    session: str
    sender: str
    name: str
    text: str
    at: float
    ref: str
    batch: int | None
