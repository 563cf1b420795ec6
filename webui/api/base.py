"""What all of the API has in common: how models look, times, errors."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from graph_memory.journal.pages import Found

from ..listing import cursor_of


def when(at: float | None) -> datetime | None:
    """Seconds since the epoch as a time in UTC; ``None`` for never and out of range."""
    if at is None or not math.isfinite(at):
        return None
    try:
        return datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        return None


Number = Annotated[int, Field(ge=1, le=2**53)]
"""Of a change, or of a message."""


class Out(BaseModel):
    """Something that is answered."""

    model_config = ConfigDict(frozen=True)


class In(BaseModel):
    """Something that is sent; unknown members are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turned(Out):
    """One page of a list.

    Attributes of all lists; ``cursor=`` with ``next`` or ``previous`` turns the page.
    """

    first: int = Field(description="Number of the first item, from 1.")
    total: int
    next: str | None = Field(description="Cursor of the next page.")
    previous: str | None = Field(description="Cursor of the page before.")


def turning(found: Found[Any]) -> dict[str, Any]:
    """The members of :class:`Turned` that a page has."""
    return {
        "first": found.first,
        "total": found.total,
        "next": cursor_of(found.next),
        "previous": cursor_of(found.previous),
    }


class Problem(Out):
    """An error (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "content": {"application/problem+json": {}}}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}
"""Errors that any route may answer with."""
