"""Data page: backups, exports, imports, and the checkup."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.responses import FileResponse, Response

from ..api.imports import Importing, Name, begin, importer_of, usual_platform
from ..core import errors, files, service
from ..guard import read_form
from ..rendering import Pages

LISTED = 20

Handler = Callable[..., Awaitable[Response]]


def router(memory: service.MemoryService, pages: Pages) -> APIRouter:
    """``/data`` and what one can do there."""
    routes = APIRouter(include_in_schema=False)
    _add_overview(routes, memory, pages)
    _add_backups(routes, memory, pages)
    _add_exports(routes, memory, pages)
    _add_imports(routes, memory, pages)
    _add_waiting(routes, memory, pages)
    return routes


def _reports(pages: Pages) -> Callable[[Handler], Handler]:
    """A decorator of handlers: what cannot be done is said on the data page."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        async def reporting(*args: Any, **values: Any) -> Response:
            try:
                return await handler(*args, **values)
            except errors.NotFoundError as error:
                if not error.code:
                    raise
                return pages.redirect("/data", what="failed", reason=_short(error))
            except (errors.GraphMemoryError, ValidationError) as error:
                return pages.redirect("/data", what="failed", reason=_short(error))

        return reporting

    return decorate


def _add_overview(routes: APIRouter, memory: service.MemoryService, pages: Pages) -> None:
    backups, moving = memory.backups, memory.moving

    @routes.get("/data")
    async def data(request: Request) -> Response:
        # First: of an import that ends meanwhile the page is to show either this or the result.
        progress = moving.progress
        return pages.render(
            request,
            "data.html",
            backups=await backups.list(),
            staged=await backups.staged(),
            problem=backups.problem,
            files=_sizes(await moving.waiting()).items(),
            limits=(files.MAX_SENT >> 30, files.MAX_WAITING),
            exports=(await asyncio.to_thread(_exports, memory))[:LISTED],
            runs=[run for run in reversed(await moving.runs()) if run.is_there],
            progress=progress,
            import_problem=moving.problem,
            directory=memory.directory,
            people=(await memory.library.overview()).people,
        )

    @routes.post("/data/checkup")
    async def checkup(request: Request) -> Response:
        return pages.render(request, "data_checkup.html", checkup=await memory.doctor())


def _add_backups(routes: APIRouter, memory: service.MemoryService, pages: Pages) -> None:
    backups, reports = memory.backups, _reports(pages)

    @routes.post("/data/backup")
    @reports
    async def backup() -> Response:
        await backups.make()
        return pages.redirect("/data", what="backup")

    @routes.get("/data/restore")
    @reports
    async def preview(request: Request, name: Name) -> Response:
        return pages.render(request, "data_restore.html", preview=await backups.preview(name))

    @routes.post("/data/restore")
    @reports
    async def restore(request: Request) -> Response:
        await backups.restore((await read_form(request)).get("name", "")[:200])
        return pages.redirect("/data", what="staged")

    @routes.post("/data/unstage")
    async def unstage() -> Response:
        return pages.redirect("/data", what="unstaged" if await backups.unstage() else "nothing")


def _add_exports(routes: APIRouter, memory: service.MemoryService, pages: Pages) -> None:
    @routes.post("/data/export")
    @_reports(pages)
    async def export(request: Request) -> Response:
        person = (await read_form(request)).get("person", "")[:500]
        done = await memory.moving.exporter(person).run()
        return pages.redirect("/data", what="export", count=done.lines)

    @routes.get("/data/exports/{name}")
    async def download(name: Name) -> Response:
        found = dict(await asyncio.to_thread(_exports, memory))
        if name not in found:
            raise errors.NotFoundError(f"there is no export {name}")
        path = memory.directory / "exports" / name
        return FileResponse(path, media_type="application/x-ndjson", filename=name)


def _add_imports(routes: APIRouter, memory: service.MemoryService, pages: Pages) -> None:
    reports = _reports(pages)

    @routes.get("/data/import")
    async def plan(request: Request, wanted: Annotated[Importing, Query()]) -> Response:
        """What a file would bring; what is wrong with it is said beside what can be set."""
        found, wrong = None, ""
        try:
            found = await (await importer_of(memory, wanted)).preview()
        except (errors.FormatError, errors.NotFoundError) as error:
            wrong = _short(error)
        return pages.render(
            request,
            "data_import.html",
            200 if found else 422,
            plan=found,
            wrong=wrong,
            wanted=wanted,
            platform=wanted.platform or await usual_platform(memory),
            choices=await memory.library.overview(),
        )

    @routes.post("/data/import")
    @reports
    async def bring(request: Request) -> Response:
        given = {key: value for key, value in (await read_form(request)).items() if key != "csrf"}
        begin(memory, await importer_of(memory, Importing.model_validate(given)))
        return pages.redirect("/data", what="import")

    @routes.post("/data/import/undo")
    @reports
    async def take_back(request: Request) -> Response:
        id = (await read_form(request)).get("run", "")[:200]
        undone = await memory.moving.undo(id)
        return pages.redirect("/data", what="import_undo", count=undone.messages)


def _add_waiting(routes: APIRouter, memory: service.MemoryService, pages: Pages) -> None:
    moving = memory.moving

    @routes.get("/data/import/delete")
    async def ask(request: Request, name: Name) -> Response:
        sizes = _sizes(await moving.waiting())
        if name not in sizes:
            raise errors.NotFoundError(f"there is no file {name} in imports/")
        return pages.render(request, "data_delete.html", name=name, size=sizes[name])

    @routes.post("/data/import/delete")
    @_reports(pages)
    async def discard(request: Request) -> Response:
        await moving.discard((await read_form(request)).get("name", ""))
        return pages.redirect("/data", what="file_deleted")


def _sizes(paths: Iterable[Path]) -> dict[str, int]:
    """Bytes of files, by name; without those that are gone meanwhile."""
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path.name] = path.stat().st_size
    return found


def _exports(memory: service.MemoryService) -> list[tuple[str, int]]:
    """Name and size of the files that were taken out, newest first. Blocks."""
    folder = memory.directory / "exports"
    if not folder.is_dir():
        return []
    found = [path for path in folder.glob("*.jsonl") if path.is_file()]
    found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [(path.name, path.stat().st_size) for path in found]


def _short(error: Exception) -> str:
    return str(error)[:400]
