"""File format of exports: one JSON object a line (``docs/data-format.md``).

The same memory makes the same bytes: keys in order, no spaces, nothing that depends on
when or where it was written. Whatever is read is checked to the last field before anything
is made of it, and the error says on which line and in which field.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from ..errors import FormatError
from ..model import (
    GROUP,
    PRIVATE,
    Addressee,
    Fact,
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
from ..store.messages import Claim
from ..store.pauses import Pause
from ..text import MAX_MESSAGE, clean, clean_name, normalise

FORMAT = "graph-memory"
VERSION = 1
MAX_LINE = 1 << 20
"""Bytes of one line."""
MAX_TEXT = 20_000
"""Characters of one text."""
MAX_KEY = 500
"""Characters of an id."""

Piece = Row | Message | Claim | Presence | Pause
Data = dict[str, Any]


# ------------------------------------------------------------------------ writing


def line(data: Mapping[str, Any]) -> str:
    """One line of a file, with its end."""
    return (
        json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        + "\n"
    )


def header(scope: str, person: str = "") -> Data:
    """The first line; ``scope`` is ``everything`` or ``person``."""
    about = {"person": person} if person else {}
    return {"kind": "header", "format": FORMAT, "version": VERSION, "scope": scope} | about


def end(lines: int) -> Data:
    """The last line, which counts those before it; without it a file is cut off."""
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
        case (of, id, at, until):
            over = {} if until is None else {"until": until}
            return {"kind": "pause", "of": of, "id": id, "at": at} | over
        case _:
            return {"kind": "row", "type": piece.kind, "data": encode(piece)}


# ------------------------------------------------------------------------ reading


def lines_of(file: BinaryIO) -> Iterator[str]:
    """The lines of a file; raises ``FormatError`` if one is too long or no UTF-8."""
    for number in count(1):
        block = file.readline(MAX_LINE + 1)
        if not block:
            return
        if len(block) > MAX_LINE:
            raise FormatError(f"is longer than {MAX_LINE} bytes", number)
        try:
            yield block.decode("utf-8" if number > 1 else "utf-8-sig")  # Windows marks the first
        except UnicodeDecodeError:
            raise FormatError("is no UTF-8", number).told("no_utf8") from None


def parse(text: str, number: int) -> Data:
    """The object on one line; raises ``FormatError`` if there is none."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is no JSON: {error}", number).told("no_json") from None
    if not isinstance(data, dict):
        raise FormatError("is no object", number)
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def read_own_file(path: Path, _options: object) -> Iterator[Piece]:
    """All pieces of a file.

    Raises:
        FormatError: Something is not as it could have been written, and where.
    """
    number, ended = 0, False
    with path.open("rb") as file:
        for number, text in enumerate(lines_of(file), 1):
            data = parse(text, number)
            if ended:
                raise FormatError("follows the end", number)
            if number == 1:
                _check_header(data)
            elif data.get("kind") == "end":
                if data.get("lines") != number - 1:
                    raise FormatError("is not how many lines there are", number, "lines")
                ended = True
            else:
                yield unpack(data, number)
    if not ended:
        error = FormatError("the file is cut off: its last line is missing", number)
        raise error.told("cut_off")


def _check_header(data: Data) -> None:
    if data.get("kind") != "header" or data.get("format") != FORMAT:
        raise FormatError("this is no memory that was exported", 1, "format").told("alien")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError("is no version", 1, "version")
    if version > VERSION:
        raise FormatError("is of a newer version; update the plugin", 1, "version").told("newer")


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
                return Claim(**_fields(Claim, data))
            case "presence":
                presence = Presence(**_fields(Presence, data))
                _check_order(presence.since, presence.until)
                return presence
            case "pause":
                validate(_PauseLine, data)
                _check_order(data["at"], data.get("until"))
                return data["of"], data["id"], data["at"], data.get("until")
            case _:
                raise FormatError("is unknown", 0, "kind")
    except FormatError as error:
        raise error.at(number) from None


def _fields(cls: type, data: Data) -> Data:
    """The fields of a dataclass that a line holds."""
    fields = {key: value for key, value in data.items() if key != "kind"}
    validate(_model_of(cls), fields)
    return fields


def _check_order(since: float, until: float | None) -> None:
    if until is not None and until < since:
        raise FormatError("is before it began", 0, "until")


def _row(data: Data) -> Row:
    validate(_RowLine, data)
    cls: Any = kind_named(data["type"])
    if cls is None:
        raise FormatError("is unknown", 0, "type")
    validate(_model_of(cls), data["data"])
    row = decode(data["type"], _cleaned(cls, data["data"]))
    if not row.id:
        raise FormatError("is empty", 0, "id")
    if isinstance(row, Session):
        _check_session(row)
    return row


def _cleaned(cls: type[Row], data: Data) -> Data:
    """Fields whose texts and names are as they would be, had they been heard here."""
    found = {key: clean(v, MAX_TEXT) if key in cls.words else v for key, v in data.items()}
    if cls is Name:
        text = found["text"] if is_entity(data["node"]) else clean_name(data["text"])
        found.update(text=text, norm=normalise(text))
    return found


def _check_session(row: Session) -> None:
    """Scope goes by these fields, so one must not say another thing than the others."""
    if not row.id.endswith(f"#{row.persona}"):  # the chat itself may have moved
        raise FormatError("is not that of its persona", 0, "id")
    platform, kind, key = split_circle(row.circle, "circle")
    if row.owner != (user_id(platform, key) if kind == PRIVATE else ""):
        raise FormatError("is not that of its circle", 0, "owner")


def split_circle(circle: str, field: str = "into") -> tuple[str, str, str]:
    """Platform, kind and key of a circle.

    Args:
        field: Where it stands.

    Raises:
        FormatError: It is none.
    """
    platform, kind, key = [*circle.split(":", 2), "", ""][:3]
    kind = PRIVATE if kind.startswith(f"{PRIVATE}@") else kind
    if not platform or kind not in (GROUP, PRIVATE) or not key:
        error = FormatError(f"{circle[:80]!r} is no chat; write platform:group:number", 0, field)
        raise error.told("no_chat", name=circle[:80])
    return platform, kind, key


def _message(data: Data) -> Message:
    fields = _fields(Message, data)
    to = tuple(Addressee(user, clean_name(name), quoted) for user, name, quoted in fields["to"])
    said = Message(**fields | {"to": to})
    # Nothing that nobody sees comes in, not even as all that somebody once said.
    return dataclasses.replace(said, name=clean_name(said.name), text=clean(said.text) or "…")


# --------------------------------------------------------------------- validation


def is_storable(value: str) -> bool:
    """Whether a text can be written down: JSON can spell halves of characters."""
    return value.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in value)


def _storable(value: str) -> str:
    if not is_storable(value):
        raise ValueError("half of a character is no text")
    return value


_STORABLE = AfterValidator(_storable)
Text = Annotated[str, Field(max_length=MAX_TEXT), _STORABLE]
Key = Annotated[str, Field(max_length=MAX_KEY), _STORABLE]
_Whole = Annotated[int, Field(ge=0, le=1 << 53)]
_YEARS = Field(ge=-6.2e10, le=1e11)  # 5 to 5138: days, weeks and years can be counted there
_Number = Annotated[int, _YEARS] | Annotated[float, _YEARS]
_FAR = Field(ge=-1e12, le=1e12)
_Told = Annotated[int, _FAR] | Annotated[float, _FAR]
"""A time that somebody spoke of, or a model."""
_TYPES: dict[Any, Any] = {
    str: Text,
    int: _Whole,
    float: _Number,
    bool: bool,
    float | None: _Told | None,
    tuple[str, ...]: list[Key],
    tuple[int, ...]: list[_Whole],
}
_KEYS = ("id", "session", "sender", "ref", "subject", "object", "node", "entity", "user", "umo")
"""Fields that are ids."""
_NUMBER_OF = Annotated[_Whole, Field(ge=1)]
_TO = Annotated[tuple[Key, Text, _Whole | None], Field(strict=False)]
_GIVEN: dict[type, dict[str, Any]] = {
    Claim: {"id": _NUMBER_OF, "state": Literal["waiting", "learned", "dead"]},
    Message: {
        "id": _NUMBER_OF,
        "text": Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE), _STORABLE],
        "batch": _Whole | None,
        "to": list[_TO],
    },
    Fact: {"half_life": Annotated[float, Field(gt=0, le=1e6)]},
}
"""Fields that are to be like something else than their annotation says."""
_LATER: dict[type, str] = {Message: "confided", Fact: "keywords"}
"""Fields that files of before do not have."""


class Strict(BaseModel):
    """Fields as they were written: none missing, none unknown, nothing converted."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@cache
def _model_of(cls: type) -> type[Strict]:
    """What the fields of a dataclass have to be like, by their annotations."""
    hints = {name: _TYPES.get(hint) for name, hint in typing.get_type_hints(cls).items()}
    types = {**hints, **dict.fromkeys(_KEYS, Key), **_GIVEN.get(cls, {})}
    later = _LATER.get(cls)
    fields: dict[str, Any] = {
        field.name: (types[field.name], field.default if field.name == later else ...)
        for field in dataclasses.fields(cls)
    }
    return create_model(cls.__name__, __base__=Strict, **fields)


class _RowLine(Strict):
    kind: str
    type: Text
    data: dict[str, Any]


class _PauseLine(Strict):
    kind: str
    of: Literal["user", "circle"]
    id: Key
    at: _Number
    until: _Number | None = None


def validate(model: type[BaseModel], data: Any) -> Any:
    """What a model makes of data; raises ``FormatError`` with the field that is wrong."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = str(first["loc"][0])[:40] if first["loc"] else ""
        raise FormatError(first["msg"], 0, field) from None
