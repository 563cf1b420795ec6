"""The data itself: backups, what comes in and goes out, whether all of it agrees."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from graph_memory.doctor import Checkup
from graph_memory.errors import FormatError
from graph_memory.model import NO_PERSONA
from graph_memory.moving import Importer, Options, Plan, split_circle
from graph_memory.service import MemoryService
from graph_memory.upkeep import Backup, Preview

from ..listing import Id
from .base import In, Out, when

Name = Annotated[str, Field(max_length=200)]


class BackupOut(Out):
    """A verified copy of the journal."""

    name: str
    at: datetime | None
    kind: str = Field(description="Empty for a daily one, else manual, restore or migration-…")
    size: int = Field(description="Bytes.")

    @classmethod
    def of(cls, backup: Backup) -> BackupOut:
        """From what is on the shelf."""
        return cls(name=backup.name, at=when(backup.at), kind=backup.kind, size=backup.size)


class BackupsOut(Out):
    """The backups, newest first."""

    items: list[BackupOut]
    staged_at: datetime | None = Field(description="When a restore was asked for that waits.")


class RestoreOut(Out):
    """What restoring a backup would do."""

    backup: BackupOut
    messages: int
    facts: int
    difference: dict[str, int] = Field(description="Against now; empty if that is unreadable.")

    @classmethod
    def of(cls, preview: Preview) -> RestoreOut:
        """From what the shelf says."""
        return cls(
            backup=BackupOut.of(preview.backup),
            messages=preview.then.messages,
            facts=preview.then.facts,
            difference=preview.difference,
        )


class ExportOut(Out):
    """A file that was written, to be had at ``/data/exports/{name}``."""

    name: str
    lines: int
    counts: dict[str, int]


class Exporting(In):
    """What is to be taken out."""

    person: Id = Field("", description="User id; empty takes everything.")


class Importing(In):
    """What is to be brought in."""

    name: Name = Field(description="A file in imports/.")
    learn: bool = Field(False, description="Whether it is learned from, in the background.")
    persona: Id = Field("", description="Of conversations that name none.")
    platform: Name = Field("", description="Type of the platform, where a file names none.")
    to: Id = Field("", description="Circle of what does not say where it was said.")


class PlanOut(Out):
    """What an import would bring."""

    run: str
    format: str
    messages: int
    new: int = Field(description="Messages that are not here yet.")
    rows: dict[str, int]
    chats: int
    since: datetime | None
    until: datetime | None
    skipped: dict[str, int] = Field(description="What is left out, by reason.")
    batches: int
    tokens: int = Field(description="What learning all of it would take, about.")
    state: str

    @classmethod
    def of(cls, plan: Plan) -> PlanOut:
        """From what the importer says."""
        return cls(
            run=plan.run,
            format=plan.format,
            messages=plan.messages,
            new=plan.new,
            rows=plan.rows,
            chats=len(plan.chats),
            since=when(plan.since),
            until=when(plan.until),
            skipped=plan.skipped,
            batches=plan.batches,
            tokens=plan.tokens,
            state=plan.state,
        )


class FileOut(Out):
    """A file that waits in ``imports/``."""

    name: str = Field(description="What it is called there.")


class MovingOut(Out):
    """What waits to be brought in, and how far an import is."""

    files: list[str]
    done: int | None = Field(description="Pieces done of the import under way; null if none is.")
    total: int | None
    problem: str = Field(description="Why the last import stopped; empty if it did not.")


class FindingOut(Out):
    """Something that was wrong."""

    code: str
    count: int
    detail: str
    mended: bool


class CheckupOut(Out):
    """What an examination found and mended."""

    findings: list[FindingOut]
    documents: int
    changes: int
    seconds: float

    @classmethod
    def of(cls, checkup: Checkup) -> CheckupOut:
        """From what the doctor says."""
        return cls(
            findings=[
                FindingOut(code=f.code, count=f.count, detail=f.detail, mended=f.is_mended)
                for f in checkup.findings
            ],
            documents=checkup.documents,
            changes=checkup.changes,
            seconds=checkup.seconds,
        )


async def importer_of(service: MemoryService, wanted: Importing) -> Importer:
    """Brings in a file of ``imports/``; a key that opens pages is none to other files.

    Raises:
        FormatError: There is no such file, or nobody knows its kind.
    """
    known = {path.name for path in await service.moving.waiting()}
    platform = wanted.platform or await usual_platform(service)
    into = wanted.to
    if into and into.count(":") == 1:
        into = f"{platform}:{into}"
    if into:
        split_circle(into)
    options = Options(
        zone=service.zone,
        persona=wanted.persona or NO_PERSONA,
        platform=platform,
        into=into,
        now=service.now(),
    )
    name = wanted.name if wanted.name in known else ""
    return await service.moving.importer(name, options, learns=wanted.learn)


async def usual_platform(service: MemoryService) -> str:
    """The platform that most chats are on; QQ's if there is none yet."""
    circles = (await service.library.overview()).circles
    counted = Counter(circle.partition(":")[0] for circle, _ in circles)
    return next((platform for platform, _ in counted.most_common(1)), "aiocqhttp")


def begin(service: MemoryService, importer: Importer) -> None:
    """Run an import in the background; why it stopped, if it does, is kept by the mover."""
    task = service.moving.begin(importer)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def routes(service: MemoryService) -> APIRouter:
    """``/backups``, ``/exports``, ``/imports`` and ``/checkup``."""
    api = APIRouter()
    backups, moving = service.backups, service.moving

    @api.get("/backups")
    async def listed() -> BackupsOut:
        """The backups there are, newest first."""
        found = [BackupOut.of(each) for each in await backups.list()]
        return BackupsOut(items=found, staged_at=when(await backups.staged()))

    @api.post("/backups")
    async def make() -> BackupOut:
        """Make a backup now."""
        return BackupOut.of(await backups.make())

    @api.get("/backups/{name}")
    async def preview(name: Name) -> RestoreOut:
        """What restoring a backup would do."""
        return RestoreOut.of(await backups.preview(name))

    @api.post("/backups/{name}/restore")
    async def restore(name: Name) -> BackupOut:
        """Have a backup take the journal's place when the plugin next starts."""
        return BackupOut.of(await backups.restore(name))

    @api.post("/exports")
    async def export(wanted: Exporting) -> ExportOut:
        """Write a file with everything, or with what there is of one person."""
        done = await moving.exporter(wanted.person).run()
        return ExportOut(name=done.path.name, lines=done.lines, counts=done.counts)

    @api.get("/imports")
    async def waiting() -> MovingOut:
        """The files that wait in ``imports/``, and how far an import is."""
        done, total = moving.progress or (None, None)
        files = [path.name for path in await moving.waiting()]
        return MovingOut(files=files, done=done, total=total, problem=moving.problem)

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
            return FileOut(name=(await moving.receive(name, request.stream())).name)
        except ClientDisconnect:
            raise FormatError("the file broke off") from None

    @api.delete("/imports/files/{name}")
    async def discard(name: Name) -> MovingOut:
        """Delete a file from ``imports/``; what was brought in from it stays."""
        await moving.discard(name)
        return await waiting()

    @api.post("/imports/preview")
    async def plan(wanted: Importing) -> PlanOut:
        """What a file would bring; nothing is written to the memory."""
        importer = await importer_of(service, wanted)
        return PlanOut.of(await importer.preview())

    @api.post("/imports")
    async def bring(wanted: Importing) -> MovingOut:
        """Bring a file in, in the background."""
        begin(service, await importer_of(service, wanted))
        return await waiting()

    @api.post("/checkup")
    async def checkup() -> CheckupOut:
        """Compare journal, graph and index, and build anew what differs."""
        return CheckupOut.of(await service.doctor())

    return api
