"""Files that wait to be imported, and how far an import is."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect

from ..core import errors, model, service, transfer
from ..listing import Id

Name = Annotated[str, Field(max_length=200)]


class Importing(BaseModel):
    """What is to be brought in; unknown members are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name = Field(description="A file in imports/.")
    learn: bool = Field(False, description="Whether it is learned from, in the background.")
    persona: Id = Field("", description="Of conversations that name none.")
    platform: Name = Field("", description="Type of the platform, where a file names none.")
    to: Id = Field("", description="Circle of what does not say where it was said.")


class FileOut(BaseModel):
    """A file that waits in ``imports/``."""

    name: str = Field(description="What it is called there.")


class MovingOut(BaseModel):
    """What waits to be brought in, and how far an import is."""

    files: list[str]
    done: int | None = Field(description="Pieces done of the import under way; null if none is.")
    total: int | None
    problem: str = Field(description="Why the last import stopped; empty if it did not.")


async def importer_of(memory: service.MemoryService, wanted: Importing) -> transfer.Importer:
    """Brings in a file of ``imports/``; a key that opens pages is none to other files.

    Raises:
        FormatError: There is no such file, or nobody knows its kind.
    """
    known = {path.name for path in await memory.moving.waiting()}
    platform = wanted.platform or await usual_platform(memory)
    into = wanted.to
    if into and into.count(":") == 1:
        into = f"{platform}:{into}"
    if into:
        transfer.split_circle(into)
    options = transfer.Options(
        zone=memory.zone,
        persona=wanted.persona or model.NO_PERSONA,
        platform=platform,
        into=into,
        now=memory.now(),
    )
    name = wanted.name if wanted.name in known else ""
    return await memory.moving.importer(name, options, learns=wanted.learn)


async def usual_platform(memory: service.MemoryService) -> str:
    """The platform that most chats are on; QQ's if there is none yet."""
    circles = (await memory.library.overview()).circles
    counted = Counter(circle.partition(":")[0] for circle, _ in circles)
    return next((platform for platform, _ in counted.most_common(1)), "aiocqhttp")


def begin(memory: service.MemoryService, importer: transfer.Importer) -> None:
    """Run an import in the background; the service keeps why it stopped."""
    task = memory.moving.begin(importer)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def routes(memory: service.MemoryService) -> APIRouter:
    """``/imports``."""
    api = APIRouter()
    mover = memory.moving

    @api.get("/imports")
    async def waiting() -> MovingOut:
        """The files that wait in ``imports/``, and how far an import is."""
        done, total = mover.progress or (None, None)
        files = [path.name for path in await mover.waiting()]
        return MovingOut(files=files, done=done, total=total, problem=mover.problem)

    @api.post(
        "/imports/files",
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"format": "binary"}}},
            }
        },
    )
    async def send(request: Request, name: Annotated[Name, Query(min_length=1)]) -> FileOut:
        """Put a file into ``imports/``; nothing of it is brought in yet.

        At most 1 GiB, and while fewer than 20 are there; they stay until they are deleted.
        """
        try:
            return FileOut(name=(await mover.receive(name, request.stream())).name)
        except ClientDisconnect:
            raise errors.FormatError("the file broke off") from None

    return api
