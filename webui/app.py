"""Application factory of the web UI, with its routes and its answers to errors."""

from __future__ import annotations

import secrets
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from .core import access, errors, mcp_server, service, settings
from .guard import AGENTS, API, Guard, Site, problem
from .pages import data, fading, graph_pages, inspection, login, memories, overview, people
from .rendering import FormError, PageRequest, marks

PARTS = (login, overview, memories, people, graph_pages, inspection, fading, data)
"""Modules of pages; an address belongs to the first that takes it."""
_STATIC = Path(__file__).parents[1] / "pages" / "memory" / "static"
"""Where AstrBot's dashboard finds them as well."""


def create_app(
    memory: service.MemoryService,
    key: access.Access,
    options: settings.Settings,
    tune: fading.Tune | None = None,
    reopen: data.Reopen | None = None,
) -> FastAPI:
    """The web UI of one open memory.

    Args:
        key: What logs in; who has the key is the owner and sees everything.
        tune: Keeps settings; ``None`` if they cannot be changed from here.
        reopen: Opens the memory anew; ``None`` where no backup can be restored: it is shared.
    """
    keyring, site = access.Keyring(key), Site(options.webui_public_url)
    app = FastAPI(
        openapi_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Guard, keyring, site, _failure, agents=bool(options.mcp_asker)),
            # What is packed holds no secret that is the same each time: its length tells nothing.
            Middleware(GZipMiddleware, compresslevel=4),
        ],
    )
    app.state.memory, app.state.tune, app.state.reopen = memory, tune, reopen
    app.state.options, app.state.run = options, secrets.token_hex(4)
    app.state.keyring, app.state.site = keyring, site
    for part in PARTS:
        app.include_router(part.routes)
    app.mount("/static", StaticFiles(directory=_STATIC))
    if options.mcp_asker:
        app.router.routes.append(Route(AGENTS, Agents(memory), methods=["POST"]))
    app.add_api_route("/healthz", lambda: {"status": "ok"})
    app.add_api_route("/api/v1/events/now", so_far)
    _handle_errors(app)
    return app


async def so_far(request: Request) -> Response:
    """Marks of what happened last; what is new is read by the page anew."""
    return Response(await marks(request.app.state), media_type="application/json")


class Agents:
    """The address that other programs ask by MCP, as an ASGI application."""

    def __init__(self, memory: service.MemoryService) -> None:
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await mcp_server.answer(self._memory, scope, receive, send)


def _failure(scope: Scope) -> Response:
    """The page that says that something failed."""
    return PageRequest(Request(scope)).render("error.html", 500, code=500, detail="")


def _handle_errors(app: FastAPI) -> None:
    """Answer errors as a page, or as problem+json below ``/api``."""

    def answer(request: Request, status: int, detail: str, told: str = "") -> Response:
        if request.scope["path"].startswith(API):
            return problem(status, detail)
        if not getattr(request.state, "login", ""):
            return problem(status, "")  # strangers are told nothing
        return PageRequest(request).render("error.html", status, code=status, detail=told)

    @app.exception_handler(errors.GraphMemoryError)
    async def known(request: Request, error: errors.GraphMemoryError) -> Response:
        if isinstance(error, errors.GraphError) and request.scope["path"].startswith("/graph"):
            state = app.state.memory.graph.state.value
            return PageRequest(request).render("graph_away.html", 503, state=state)
        status = status_of(error)
        told = PageRequest(request).explain(error) if status != 404 else ""
        return answer(request, status, told, told if status >= 500 else "")

    @app.exception_handler(FormError)
    async def refused(request: Request, error: FormError) -> Response:
        wrong = error.__cause__ if error.what == "failed" else None
        more = {"reason": PageRequest(request).explain(wrong)} if wrong else {}
        return PageRequest(request).redirect(error.back, what=error.what, **more)

    @app.exception_handler(ValidationError)
    @app.exception_handler(RequestValidationError)
    async def invalid(
        request: Request, error: RequestValidationError | ValidationError
    ) -> Response:
        # What was sent is not repeated: it may be anything.
        reasons = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        return answer(request, 422, "; ".join(reasons))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        detail = "" if error.status_code in {404, 405} else str(error.detail)
        return answer(request, error.status_code, detail)


def status_of(error: errors.GraphMemoryError) -> int:
    """The HTTP status that says what ``error`` says."""
    match error:
        case errors.NotFoundError():
            return 404
        case errors.ConflictError() | errors.BondError():
            return 409
        case errors.FormatError():
            return 422
        case errors.StorageError() | errors.ClosedError():
            return 503
        case _:
            return 500
