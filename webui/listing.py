"""Query models of pages: filters, order, and the place at which a list begins."""

from __future__ import annotations

import math
from dataclasses import astuple
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from .core import queries

PAGE_SIZE = 50
MAX_TEXT = 200
STRENGTHS: dict[str, tuple[float, float]] = {
    "clear": (0.7, 1.0),
    "dim": (0.4, 0.7),
    "faint": (0.0, 0.4),
}
"""Retention at least, and less than (or all there is), by what it is called."""
_Number = Annotated[float, Field(ge=-1e300, le=1e300)]
_PLACE = TypeAdapter(tuple[_Number, str, bool, _Number])


def place_of(cursor: str) -> queries.Cursor | None:
    """The place that a word of a query string means; ``None`` for an empty one.

    Raises:
        ValueError: It is none of ours.
    """
    return queries.Cursor(*_PLACE.validate_json(cursor)) if cursor else None


def _checked(cursor: str) -> str:
    place_of(cursor)
    return cursor


def _day(text: str) -> str:
    if text:
        date.fromisoformat(text)
    return text


Id = Annotated[str, Field(max_length=500)]
Day = Annotated[str, Field(max_length=10), AfterValidator(_day)]
"""A date of the calendar, ``2025-10-09``; empty for any."""


def midnight(day: str, zone: tzinfo, later: int = 0) -> float:
    """When a day, or one some days later, begins; infinite beyond the calendar."""
    try:
        found = date.fromisoformat(day) + timedelta(days=later)
        return datetime.combine(found, time(), zone).timestamp()
    except (OverflowError, ValueError, OSError):
        return math.inf if later else -math.inf


class PageQuery(BaseModel):
    """What a page was asked for."""

    model_config = ConfigDict(frozen=True)
    path: ClassVar[str]
    places: ClassVar[frozenset[str]] = frozenset({"cursor"})
    """Where lists begin: forgotten when something else changes."""

    def url(self, **changes: Any) -> str:
        """Address of the page with some of it changed; its lists begin anew."""
        values = {key: value for key, value in self if key not in self.places} | changes
        fields = type(self).model_fields
        wanted = {key: value for key, value in values.items() if value != fields[key].default}
        return self.path + (f"?{urlencode(wanted)}" if wanted else "")


class Listing(PageQuery):
    """A list as it was asked for."""

    cursor: Annotated[str, Field(max_length=1000), AfterValidator(_checked)] = ""

    @property
    def place(self) -> queries.Cursor | None:
        """Where the page begins."""
        return place_of(self.cursor)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything is filtered."""
        given = {key for key, value in self if value != type(self).model_fields[key].default}
        return bool(given - {"sort", "cursor"})

    def turned(self, place: queries.Cursor) -> str:
        """Address of another page of the same list."""
        return self.url(cursor=_PLACE.dump_json(astuple(place)).decode())


class Spanned(Listing):
    """A list of what happened in chats between two days, both included."""

    persona: Id = ""
    chat: Id = ""
    since: Day = ""
    until: Day = ""

    @model_validator(mode="after")
    def _in_order(self) -> Spanned:
        if self.since and self.until and self.since > self.until:
            raise ValueError("it ends before it begins")
        return self

    def common(self, zone: tzinfo) -> dict[str, Any]:
        """Fields of :class:`queries.ListFilter`; days in seconds since the epoch."""
        return {
            "persona": self.persona,
            "circle": self.chat,
            "since": midnight(self.since, zone) if self.since else None,
            "until": midnight(self.until, zone, 1) if self.until else None,
            "place": self.place,
        }


class FactListing(Spanned):
    """Facts."""

    path = "/memories"

    q: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    node: Id = ""
    predicate: Annotated[str, Field(max_length=40)] = ""
    own: Literal["", "yes"] = ""
    state: Literal[
        "", "active", "superseded", "archived", "pinned",
        "hearsay", "confidential", "weak", "disputed",
    ] = ""  # fmt: skip
    strength: Literal["", "clear", "dim", "faint"] = ""
    sort: Literal["recent", "said", "importance", "strength", "faint"] = "recent"

    def filter(self, zone: tzinfo, limit: int = PAGE_SIZE) -> queries.FactFilter:
        """The same as the library wants it."""
        weakest, strongest = STRENGTHS.get(self.strength, (0.0, 1.0))
        return queries.FactFilter(
            text=self.q,
            node=self.node,
            predicate=self.predicate,
            is_own=bool(self.own),
            status=self.state,
            weakest=weakest,
            strongest=strongest,
            order=self.sort,
            limit=limit,
            **self.common(zone),
        )


class RecordListing(Spanned):
    """Episodes and summaries."""

    path = "/records"

    level: Literal["", "episode", "day", "week", "month", "year"] = ""
    told: Literal["", "yes"] = ""

    def filter(self, zone: tzinfo) -> queries.RecordFilter:
        """The same as the library wants it."""
        told = bool(self.told)
        return queries.RecordFilter(
            level=self.level, is_told=told, limit=PAGE_SIZE, **self.common(zone)
        )


class ChangeListing(Listing):
    """Changes."""

    path = "/changes"

    actor: Id = ""
    reason: Annotated[str, Field(max_length=40)] = ""


FactQuery = Annotated[FactListing, Query()]
RecordQuery = Annotated[RecordListing, Query()]
ChangeQuery = Annotated[ChangeListing, Query()]
