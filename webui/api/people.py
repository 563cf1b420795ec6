"""People and things: everything about one, and which are one and the same."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from graph_memory.bonds import Merged
from graph_memory.library import OWNER, Called, Portrait
from graph_memory.service import MemoryService

from ..listing import MAX_TEXT, Id
from .base import In, Out, when
from .changes import ChangeOut
from .facts import FactOut


class CalledOut(Out):
    """Somebody or something by name."""

    id: str
    name: str
    facts: int = Field(description="How many facts there are about it by itself.")

    @classmethod
    def of(cls, called: Called) -> CalledOut:
        """From what the library says."""
        return cls(id=called.node, name=called.name, facts=called.facts)


class CalledsOut(Out):
    """Who and what was searched for, best known first."""

    items: list[CalledOut]


class AliasOut(Out):
    """What somebody or something is called in one conversation."""

    text: str
    persona: str
    chat: str
    first_at: datetime | None
    last_at: datetime | None


class PortraitOut(Out):
    """Everything about one person or thing."""

    id: str
    name: str
    type: str
    names: list[AliasOut]
    members: list[CalledOut] = Field(description="What was merged into it.")
    accounts: list[CalledOut] = Field(description="The person's other accounts.")
    threads: list[list[FactOut]] = Field(
        description="Its facts; each thread holds those that replace one another, oldest first."
    )
    total: int

    @classmethod
    def of(cls, portrait: Portrait) -> PortraitOut:
        """From what the library says."""
        return cls(
            id=portrait.node,
            name=portrait.name,
            type=portrait.type,
            names=[
                AliasOut(
                    text=alias.text,
                    persona=alias.session.persona,
                    chat=alias.session.circle,
                    first_at=when(alias.first_at),
                    last_at=when(alias.last_at),
                )
                for alias in portrait.names
            ],
            members=[CalledOut.of(each) for each in portrait.members],
            accounts=[CalledOut.of(each) for each in portrait.accounts],
            threads=[[FactOut.of(line) for line in thread.lines] for thread in portrait.threads],
            total=portrait.total,
        )


class MergedOut(Out):
    """A thing that goes under another one."""

    node: str
    name: str
    facts: int
    into: str
    into_name: str
    into_facts: int
    at: datetime | None

    @classmethod
    def of(cls, merged: Merged) -> MergedOut:
        """From what the bonds say."""
        return cls(
            node=merged.node,
            name=merged.name,
            facts=merged.facts,
            into=merged.into,
            into_name=merged.into_name,
            into_facts=merged.into_facts,
            at=when(merged.at),
        )


class MergesOut(Out):
    """All merges, oldest first."""

    items: list[MergedOut]


class Merging(In):
    """Which thing goes under which other one."""

    node: Id
    into: Id


class Splitting(In):
    """Which merged thing is to be one of its own again."""

    node: Id


def routes(service: MemoryService) -> APIRouter:
    """``/portrait``, ``/names`` and ``/merges``."""
    api = APIRouter()

    @api.get("/portrait")
    async def portrait(node: Id) -> PortraitOut:
        """Everything about one person or thing; of merged ones about all of them."""
        return PortraitOut.of(await service.portraits.portrait(node))

    @api.get("/names")
    async def names(
        q: Annotated[str, Query(min_length=1, max_length=MAX_TEXT)],
        limit: Annotated[int, Query(ge=1, le=100)] = 12,
    ) -> CalledsOut:
        """People and things that have a name with ``q`` in it; answers without the graph."""
        found = await service.portraits.search(q, limit)
        return CalledsOut(items=[CalledOut.of(each) for each in found])

    @api.get("/merges")
    async def merges() -> MergesOut:
        """What goes under what."""
        return MergesOut(items=[MergedOut.of(each) for each in await service.bonds.merges()])

    @api.post("/merges")
    async def merge(wanted: Merging) -> ChangeOut:
        """Have one thing go under another; no row is rewritten, nobody sees more."""
        return ChangeOut.of(await service.bonds.merge(wanted.node, wanted.into, OWNER))

    @api.post("/merges/split")
    async def split(wanted: Splitting) -> ChangeOut:
        """Let a merged thing be one of its own again."""
        return ChangeOut.of(await service.bonds.split(wanted.node, OWNER))

    return api
