"""Facts: listed, one by one, and what the owner does with them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from graph_memory.library import MAX_STATEMENT, OWNER, Action, Effect, FactDetail, FactLine
from graph_memory.service import MemoryService

from ..listing import PAGE_SIZE, Id, Limit, WantedQuery
from .base import In, Out, Turned, turning, when
from .changes import ChangeOut
from .records import MessageOut

MAX_HANDLED = 200
"""Facts that something is done with at once."""
Handling = Literal["pin", "unpin", "archive", "restore"]


class FactOut(Out):
    """Something known."""

    id: str
    statement: str
    predicate: str
    subject: str
    subject_name: str
    object: str
    object_name: str
    persona: str
    chat: str
    chat_title: str
    said_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    fades_at: datetime | None = Field(description="None: never.")
    strength: float = Field(ge=0, le=1)
    importance: float
    times: int = Field(description="How often it was said.")
    pinned: bool
    state: str = Field(description="active, superseded or archived")

    @classmethod
    def of(cls, line: FactLine) -> FactOut:
        """From what the library says."""
        fact = line.fact
        return cls(
            id=fact.id,
            statement=fact.statement,
            predicate=fact.predicate,
            subject=fact.subject,
            subject_name=line.subject,
            object=fact.object,
            object_name=line.object,
            persona=line.session.persona,
            chat=line.session.circle,
            chat_title=line.session.title,
            said_at=when(fact.said_at),
            valid_from=when(fact.valid_from),
            valid_to=when(fact.valid_to),
            fades_at=when(line.fades_at),
            strength=line.strength,
            importance=fact.importance,
            times=fact.use_count,
            pinned=fact.pinned,
            state=line.state,
        )


class FactsOut(Turned):
    """One page of facts."""

    items: list[FactOut]


class FactDetailOut(Out):
    """A fact, what it rests on, and what came before and after."""

    fact: FactOut
    sources: list[MessageOut]
    replaces: list[FactOut]
    replaced_by: list[FactOut]

    @classmethod
    def of(cls, detail: FactDetail) -> FactDetailOut:
        """From what the library says."""
        return cls(
            fact=FactOut.of(detail.line),
            sources=[MessageOut.of(message) for message in detail.sources],
            replaces=[FactOut.of(line) for line in detail.replaces],
            replaced_by=[FactOut.of(line) for line in detail.replaced_by],
        )


class Handled(In):
    """What is to be done with which facts."""

    action: Action
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_HANDLED)]


class Amended(In):
    """How it really is."""

    statement: Annotated[str, Field(min_length=1, max_length=MAX_STATEMENT)]
    mute: bool = Field(True, description="Whether its messages are not recalled any more.")


class EffectOut(Out):
    """What an act would do."""

    facts: int = Field(description="Facts that would change.")
    left: int = Field(description="Facts that would stay as they are.")
    messages: int = Field(description="Messages that would not be recalled any more.")
    summaries: int = Field(description="Summaries that would be lost.")

    @classmethod
    def of(cls, effect: Effect) -> EffectOut:
        """From what the library says."""
        return cls(
            facts=effect.facts,
            left=effect.left,
            messages=effect.messages,
            summaries=effect.summaries,
        )


def routes(service: MemoryService) -> APIRouter:
    """``/facts``."""
    api = APIRouter(prefix="/facts")
    library = service.library

    @api.get("")
    async def facts(wanted: WantedQuery, limit: Limit = PAGE_SIZE) -> FactsOut:
        """Facts; ``cursor`` is the ``next`` of the page before."""
        page = await library.browse(wanted.filter(service.zone, limit))
        return FactsOut(items=[FactOut.of(line) for line in page.items], **turning(page))

    @api.post("/preview")
    async def preview(wanted: Handled) -> EffectOut:
        """What doing something with some facts would change; nothing is done."""
        return EffectOut.of(await library.weigh(wanted.action, wanted.ids))

    @api.post("/act")
    async def act(wanted: Handled) -> ChangeOut:
        """Do something with some facts, as one change; undone by undoing it."""
        return ChangeOut.of(await library.act(wanted.action, wanted.ids, OWNER))

    @api.get("/{id}")
    async def fact(id: Id) -> FactDetailOut:
        """One fact with its sources and what came before and after."""
        return FactDetailOut.of(await library.fact(id))

    @api.delete("/{id}")
    async def forget(id: Id) -> ChangeOut:
        """Forget a fact; undone by undoing the change."""
        return ChangeOut.of(await library.forget(id, None, OWNER))

    @api.post("/{id}/amend")
    async def amend(id: Id, wanted: Amended) -> ChangeOut:
        """Replace what a fact states; the old one stays as what was believed before."""
        change = await library.amend(id, wanted.statement, OWNER, mute=wanted.mute)
        return ChangeOut.of(change)

    @api.post("/{id}/{action}")
    async def handle(id: Id, action: Handling) -> ChangeOut:
        """Pin a fact or let it fade again, put it away or bring it back."""
        return ChangeOut.of(await library.act(action, [id], OWNER))

    return api
