"""What a reader asked a list of facts for, read from a query string."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from graph_memory.journal.catalogue import FactFilter

PAGE_SIZE = 50
MAX_PAGE = 100_000
MAX_TEXT = 200

Id = Annotated[str, Field(max_length=500)]


class Wanted(BaseModel):
    """Filters, order and page of the table; unknown words are refused."""

    model_config = ConfigDict(frozen=True)

    q: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    node: Id = ""
    persona: Id = ""
    chat: Id = ""
    predicate: Annotated[str, Field(max_length=40)] = ""
    state: Literal["", "active", "superseded", "archived"] = ""
    sort: Literal["recent", "said", "importance", "strength"] = "recent"
    page: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 1

    def filter(self, limit: int = PAGE_SIZE, offset: int | None = None) -> FactFilter:
        """The same as the library wants it."""
        return FactFilter(
            text=self.q,
            node=self.node,
            persona=self.persona,
            circle=self.chat,
            predicate=self.predicate,
            status=self.state,
            order=self.sort,
            limit=limit,
            offset=(self.page - 1) * PAGE_SIZE if offset is None else offset,
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether anything is filtered."""
        return any((self.q, self.node, self.persona, self.chat, self.predicate, self.state))

    def url(self, **changes: str | int) -> str:
        """Address of the table with some of it changed; filters go back to page one."""
        values = self.model_dump() | {"page": 1} | changes
        defaults = Wanted().model_dump()
        given = {key: value for key, value in values.items() if value != defaults[key]}
        return "/memories" + (f"?{urlencode(given)}" if given else "")


WantedQuery = Annotated[Wanted, Query()]
