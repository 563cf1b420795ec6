"""Conversations: episodes, their summaries, what was said, and how all of it grew."""

from __future__ import annotations

import datetime as dates
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from graph_memory.library import Day, Reading, Record, Scene
from graph_memory.model import Message
from graph_memory.service import MemoryService

from ..listing import PAGE_SIZE, Id, Limit, RecordsQuery
from .base import Number, Out, Turned, turning, when

MAX_DAYS = 366


class MessageOut(Out):
    """A line of chat."""

    id: int
    sender: str
    name: str
    text: str
    at: datetime | None

    @classmethod
    def of(cls, message: Message) -> MessageOut:
        """From what the journal says."""
        return cls(
            id=message.id,
            sender=message.sender,
            name=message.name,
            text=message.text,
            at=when(message.at),
        )


class RecordOut(Out):
    """A run of conversation, or the summary of a day, week, month or year."""

    id: str
    level: str
    summary: str
    persona: str
    chat: str
    chat_title: str
    started_at: datetime | None
    ended_at: datetime | None
    messages: int
    people: dict[str, str] = Field(description="Names of those who spoke, by user id.")

    @classmethod
    def of(cls, record: Record) -> RecordOut:
        """From what the library says."""
        episode, session = record.episode, record.session
        return cls(
            id=episode.id,
            level=episode.level,
            summary=episode.summary,
            persona=session.persona,
            chat=session.circle,
            chat_title=session.title,
            started_at=when(episode.started_at),
            ended_at=when(episode.ended_at),
            messages=episode.messages,
            people=record.people,
        )


class RecordsOut(Turned):
    """One page of records, newest first."""

    items: list[RecordOut]


class ReadingOut(Out):
    """A record, with what it is made of."""

    record: RecordOut
    parts: list[RecordOut] = Field(description="Of a summary: what it sums up.")
    messages: list[MessageOut]
    missing: int = Field(description="Messages that are gone, or more than are shown.")

    @classmethod
    def of(cls, reading: Reading) -> ReadingOut:
        """From what the library says."""
        return cls(
            record=RecordOut.of(reading.record),
            parts=[RecordOut.of(part) for part in reading.parts],
            messages=[MessageOut.of(message) for message in reading.messages],
            missing=reading.missing,
        )


class SceneOut(Out):
    """A message, with what was said around it."""

    message: MessageOut
    lines: list[MessageOut]
    persona: str
    chat: str
    has_earlier: bool
    has_later: bool

    @classmethod
    def of(cls, scene: Scene) -> SceneOut:
        """From what the library says."""
        return cls(
            message=MessageOut.of(scene.message),
            lines=[MessageOut.of(line) for line in scene.lines],
            persona=scene.session.persona,
            chat=scene.session.circle,
            has_earlier=scene.has_earlier,
            has_later=scene.has_later,
        )


class DayOut(Out):
    """What one day brought."""

    day: dates.date
    facts: int
    messages: int

    @classmethod
    def of(cls, day: Day) -> DayOut:
        """From what the library says."""
        return cls(day=day.day, facts=day.facts, messages=day.messages)


class GrowthOut(Out):
    """What the last days brought, oldest first."""

    days: list[DayOut]


def routes(service: MemoryService) -> APIRouter:
    """``/records``, ``/messages`` and ``/growth``."""
    api = APIRouter()
    chronicle = service.chronicle

    @api.get("/records")
    async def listed(wanted: RecordsQuery, limit: Limit = PAGE_SIZE) -> RecordsOut:
        """Episodes and summaries, newest first."""
        page = await chronicle.browse(wanted.filter(service.zone, limit))
        return RecordsOut(items=[RecordOut.of(each) for each in page.items], **turning(page))

    @api.get("/records/{id}")
    async def one(id: Id) -> ReadingOut:
        """One record with what was said, or with what it sums up."""
        return ReadingOut.of(await chronicle.read(id))

    @api.get("/messages/{number}")
    async def message(number: Number, around: Annotated[int, Query(ge=0, le=100)] = 6) -> SceneOut:
        """A message with what was said before and after it."""
        return SceneOut.of(await chronicle.scene(number, around, around))

    @api.get("/growth")
    async def growth(days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30) -> GrowthOut:
        """What each of the last days brought."""
        return GrowthOut(days=[DayOut.of(day) for day in await chronicle.growth(days)])

    return api
