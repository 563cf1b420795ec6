"""The web UI's application, put together."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from graph_memory.access import Access
from graph_memory.errors import GraphMemoryError
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from . import api
from .auth import Keyring
from .guard import API, Guard
from .pages import (
    changes,
    data,
    graph,
    login,
    memories,
    node,
    overview,
    questions,
    records,
    tuning,
    viewas,
    why,
)
from .preferences import Preferences
from .problems import problem, status_of
from .site import Site
from .view import Pages

_STATIC = Path(__file__).parent / "static"


def create_app(
    service: MemoryService,
    access: Access,
    settings: Settings,
    tune: tuning.Tune | None = None,
) -> FastAPI:
    """The web UI of one memory.

    Args:
        service: Open, and closed by whoever opened it.
        access: What logs in; whoever has the key is the owner and sees everything.
        settings: Say in which language the page is for who has chosen none, and where it is.
        tune: Keeps settings; ``None`` if they cannot be changed from here.
    """
    keyring, site = Keyring(access), Site(settings.webui_public_url)
    pages = Pages(keyring, settings.language, service.zone)
    app = FastAPI(
        title="GraphMemory",
        version="1",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the stock pages need a CDN and inline scripts
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Guard, keyring=keyring, site=site),
            Middleware(Preferences),
        ],
    )
    app.include_router(login.router(keyring, site, pages))
    for part in (overview, memories, node, questions, graph, viewas, why, records, changes, data):
        app.include_router(part.router(service, pages))
    app.include_router(tuning.router(service, pages, tune))
    app.include_router(api.router(service))
    app.mount("/static", StaticFiles(directory=_STATIC))

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    _handle_errors(app, pages)
    return app


def _handle_errors(app: FastAPI, pages: Pages) -> None:
    """Answer errors as a page, or as problem+json below ``/api``."""

    def answer(request: Request, status: int, detail: str) -> Response:
        if request.scope["path"].startswith(API):
            return problem(status, detail)
        if getattr(request.state, "login", None) is None:
            return problem(status, "")  # strangers are told nothing
        return pages.render(request, "error.html", status, code=status, detail=detail)

    @app.exception_handler(GraphMemoryError)
    async def known(request: Request, error: GraphMemoryError) -> Response:
        return answer(request, status_of(error), str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # What was sent is not repeated: it may be anything.
        reasons = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        return answer(request, 422, "; ".join(reasons))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        detail = "" if error.status_code in {404, 405} else str(error.detail)
        return answer(request, error.status_code, detail)
