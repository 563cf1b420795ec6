"""Data page: backups, exports, imports, and the checkup.

``/api/v1/work`` answers the page's script.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, RedirectResponse, Response

from ..core import errors, files, model, service, transfer
from ..guard import pieces
from ..listing import Id
from ..rendering import SOON, Memory, Visit, or_back

LISTED = 20
PATIENCE = 5.0
"""Seconds that a page waits for a file to be read; after that it shows how far that is."""
SAMPLE = "sample"
"""Note of which import brought the sample, and its people's platform."""
TOLD = 1_760_000_000.0
"""Until when the people of the sample talked."""
_SAMPLES = Path(__file__).parents[1] / "sample"
Name = Annotated[str, Field(max_length=200)]
Reopen = Callable[[], None]
"""Closes the memory, and this page with it, and opens both again a moment later."""

routes = APIRouter()


@routes.get("/data")
async def data(memory: Memory, visit: Visit) -> Response:
    """Everything that can be kept, taken out and brought in."""
    # First: of work that ends meanwhile the page is to show either this or the result.
    works = memory.journal.works.snapshot("import", "undo")
    return visit.render(
        "data.html",
        backups=await memory.backups.list(),
        problem=memory.backups.problem,
        files=_sizes(await memory.transfer.waiting()).items(),
        limits=(files.MAX_SENT >> 30, files.MAX_WAITING),
        exports=list((await asyncio.to_thread(_exports, memory.directory)).items())[:LISTED],
        runs=[run for run in reversed(await memory.transfer.runs()) if run.is_there],
        works=works,
        examined=memory.journal.works.snapshot("checkup"),
        directory=memory.directory,
        people=await memory.library.people(),
    )


@routes.post("/data/checkup")
async def checkup(memory: Memory) -> Response:
    """Have the doctor look; what it finds is on the page that this leads to."""
    await memory.journal.works.soon(memory.doctor(), SOON)
    return RedirectResponse("/data/checkup", 303)


@routes.get("/data/checkup")
async def examined(memory: Memory, visit: Visit) -> Response:
    """How far the doctor is, or what the doctor found."""
    found = memory.journal.works.snapshot("checkup")
    return visit.render("data_checkup.html", work=found[0]) if found else RedirectResponse("/data")


# ------------------------------------------------------------------------ backups


@routes.post("/data/backup")
async def backup(memory: Memory, visit: Visit) -> Response:
    """Make a backup."""
    with or_back("/data"):
        await memory.backups.make()
    return visit.redirect("/data", what="backup")


@routes.get("/data/restore")
async def preview_restore(memory: Memory, visit: Visit, name: Name) -> Response:
    """What restoring a backup would change."""
    with or_back("/data"):
        found = await memory.backups.preview(name)
    return visit.render("data_restore.html", preview=found)


@routes.post("/data/restore")
async def restore(memory: Memory, visit: Visit) -> Response:
    """Have a backup restored."""
    with or_back("/data"):
        await memory.backups.restore(visit.form.get("name", "")[:200])
    visit.app.reopen()
    return visit.tell(visit.render("data_reopening.html"), what="restored")


# ------------------------------------------------------------------------ exports


@routes.post("/data/export")
async def export(memory: Memory, visit: Visit) -> Response:
    """Take out everything, or one person."""
    with or_back("/data"):
        done = await memory.transfer.export(visit.form.get("person", "")[:500])
    return visit.redirect("/data", what="export", count=done.lines)


@routes.get("/data/exports/{name}")
async def download(memory: Memory, name: Name) -> Response:
    """One of the files that were taken out."""
    if name not in await asyncio.to_thread(_exports, memory.directory):
        raise errors.NotFoundError(f"there is no export {name}")
    path = memory.directory / files.EXPORTS / name
    plain = {"Content-Encoding": "identity"}  # not compressed: its size is told
    return FileResponse(path, headers=plain, media_type="application/x-ndjson", filename=name)


# ------------------------------------------------------------------------ imports


class Importing(BaseModel):
    """What is to be brought in; unknown members are refused.

    Attributes:
        name: A file in ``imports/``.
        format: Kind of the file; by what it looks like, if empty.
        learn: Whether it is learned from, in the background.
        persona, platform, to: As in ``Options``; ``to`` is its ``into``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    format: Literal["", "memory", "astrbot", "chat", "livingmemory", "graphmemory", "qq"] = ""
    learn: bool = False
    persona: Id = ""
    platform: Name = ""
    to: Id = ""


@routes.get("/data/import")
async def plan(memory: Memory, visit: Visit, wanted: Annotated[Importing, Query()]) -> Response:
    """What a file would bring; what is wrong with it is said beside what can be set."""
    found, wrong, wanted = None, None, await _completed(memory, wanted)
    with or_back("/data"):
        try:
            found = await memory.transfer.preview(await importer_of(memory, wanted), PATIENCE)
        except (errors.FormatError, errors.NotFoundError) as error:
            wrong = error
            visit.explain(error)
    return visit.render(
        "data_import.html",
        422 if wrong else 200,
        plan=found,
        works=[each for each in memory.journal.works.snapshot("preview") if not each.is_over],
        wrong=wrong,
        wanted=wanted,
        formats=tuple(transfer.SOURCES),
        choices=await memory.library.overview(),
    )


@routes.post("/data/import")
async def bring(memory: Memory, visit: Visit) -> Response:
    """Run an import in the background; the service keeps why it stopped."""
    given = {key: value for key, value in visit.form.items() if key != "csrf"}
    wanted = Importing.model_validate(given)
    with or_back("/data"):
        importer = await importer_of(memory, wanted)
        memory.journal.works.begin(memory.transfer.bring(importer))
    return visit.redirect("/data", what="import")


@routes.post("/sample")
async def sample(memory: Memory, visit: Visit) -> Response:
    """Bring in made-up people, once, to look around before anybody has chatted."""
    if await sample_run(memory):
        return visit.redirect("/", what="sample")
    # Two presses within an hour bring the very same.
    told = await asyncio.to_thread(_sample, visit.words.language, memory.now() // 3600 * 3600)
    options = transfer.Options(
        zone=memory.zone, persona=model.NO_PERSONA, platform=SAMPLE, now=memory.now()
    )
    with or_back("/"):
        path = await memory.transfer.receive("sample.jsonl", pieces(told.encode()))
        try:
            importer = await memory.transfer.importer(path.name, options, format="memory")
            await memory.transfer.bring(importer)
        finally:
            await memory.transfer.discard(path.name)
        await memory.journal.set_note(SAMPLE, (await memory.transfer.runs())[-1].id)
    return visit.redirect("/", what="sample")


async def sample_run(memory: service.MemoryService) -> str:
    """The import that brought the sample, while it is there; else empty."""
    noted = await memory.journal.note(SAMPLE)
    return next((r.id for r in await memory.transfer.runs() if r.is_there and r.id == noted), "")


def _sample(language: str, now: float) -> str:
    """The sample as if it had been told until now. Blocks."""
    lines = (_SAMPLES / f"{language}.jsonl").read_text("utf-8").splitlines()
    return "\n".join(json.dumps(_moved(json.loads(line), now - TOLD)) for line in lines)


def _moved(found: Any, by: float) -> Any:
    """JSON data with all times in it moved."""
    match found:
        case dict():
            return {key: _moved(each, by) for key, each in found.items()}
        case list():
            return [_moved(each, by) for each in found]
        case float() if found > 1e9:
            return found + by
        case _:
            return found


@routes.post("/data/import/undo")
async def take_back(memory: Memory, visit: Visit) -> Response:
    """Undo an import."""
    with or_back("/data"), or_back("/data", undone=errors.NotFoundError):
        undoing = memory.transfer.undo(visit.form.get("run", "")[:200])
        undone = await memory.journal.works.soon(undoing, SOON)
    if undone is None:
        return visit.redirect("/data", what="begun")
    return visit.redirect("/data", what="import_undo", count=undone.messages)


@routes.get("/data/import/delete")
async def ask_to_delete(memory: Memory, visit: Visit, name: Name) -> Response:
    """Ask whether a file that waits is to go."""
    sizes = _sizes(await memory.transfer.waiting())
    if name not in sizes:
        raise errors.NotFoundError(f"there is no file {name} in {files.IMPORTS}/")
    return visit.render("data_delete.html", name=name, size=sizes[name])


@routes.post("/data/import/delete")
async def delete(memory: Memory, visit: Visit) -> Response:
    """Delete a file that waits."""
    with or_back("/data"):
        await memory.transfer.discard(visit.form.get("name", ""))
    return visit.redirect("/data", what="file_deleted")


@routes.get("/api/v1/work")
async def under_way(memory: Memory) -> dict[str, dict[str, int]]:
    """How far the long work under way is, by its kind; others of it wait."""
    return {
        each.kind: {"done": each.done, "total": each.total}
        for each in reversed(memory.journal.works.under_way)
    }


@routes.post("/api/v1/imports/files")
async def send(
    request: Request, memory: Memory, name: Annotated[Name, Query(min_length=1)]
) -> dict[str, str]:
    """Put a file into ``imports/``; nothing of it is brought in yet."""
    try:
        return {"name": (await memory.transfer.receive(name, request.stream())).name}
    except ClientDisconnect:
        raise errors.FormatError("the file broke off").told("cut_off") from None


async def importer_of(memory: service.MemoryService, wanted: Importing) -> transfer.Importer:
    """Brings in a file of ``imports/``; a key that opens pages is none to other files.

    Raises:
        FormatError: There is no such file, or nobody knows its kind.
    """
    known = {path.name for path in await memory.transfer.waiting()}
    wanted = await _completed(memory, wanted)
    options = transfer.Options(
        zone=memory.zone,
        persona=wanted.persona,
        platform=wanted.platform,
        bots=frozenset(memory.instances.accounts.get(wanted.platform, ())),
        into=transfer.circle_meant(wanted.to, wanted.platform),
        now=memory.now(),
    )
    if wanted.name not in known:
        raise errors.FormatError("there is no such file").told("no_file", name=wanted.name)
    kind, learns = wanted.format, wanted.learn
    return await memory.transfer.importer(wanted.name, options, format=kind, learns=learns)


async def _completed(memory: service.MemoryService, wanted: Importing) -> Importing:
    """An import with the platform and persona of most chats where none is named."""
    if wanted.platform and wanted.persona:
        return wanted
    known = [(s.circle.partition(":")[0], s.persona) for s in await memory.library.sessions()]
    known = [each for each in known if each[0] != SAMPLE] or [("aiocqhttp", model.NO_PERSONA)]
    usual = [Counter(each).most_common(1)[0][0] for each in zip(*known, strict=True)]
    platform, persona = wanted.platform or usual[0], wanted.persona or usual[1]
    return wanted.model_copy(update={"platform": platform, "persona": persona})


def _sizes(paths: Iterable[Path]) -> dict[str, int]:
    """Bytes of files, by name; without those that are gone meanwhile."""
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path.name] = path.stat().st_size
    return found


def _exports(directory: Path) -> dict[str, int]:
    """Name and size of the files that were taken out, newest first. Blocks."""
    found = filter(Path.is_file, (directory / files.EXPORTS).glob("*.jsonl"))
    return _sizes(sorted(found, key=os.path.getmtime, reverse=True))
