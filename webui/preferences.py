"""Language and theme: ``?language=en`` and ``?theme=dark`` on any page.

They work without scripts and before logging in. Remembering them changes nothing of
the memory, so a link may do it.
"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .guard import API, local_path
from .i18n import LANGUAGES
from .view import LANGUAGE_COOKIE, THEME_COOKIE, THEMES

_CHOICES = {"language": (LANGUAGE_COOKIE, tuple(LANGUAGES)), "theme": (THEME_COOKIE, THEMES)}
_YEAR = 365 * 86_400


class Preferences:
    """ASGI middleware: keeps a choice in a cookie and shows the page again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or scope["path"].startswith((API, "/static/"))
        ):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        chosen = {key: value for key, value in request.query_params.items() if key in _CHOICES}
        if not chosen:
            await self._app(scope, receive, send)
            return
        kept = [(k, v) for k, v in request.query_params.multi_items() if k not in _CHOICES]
        query = f"?{urlencode(kept)}" if kept else ""
        response = RedirectResponse(local_path(scope["path"]) + query, status_code=303)
        for key, value in chosen.items():
            cookie, accepted = _CHOICES[key]
            if value in accepted:
                response.set_cookie(cookie, value, max_age=_YEAR, httponly=True, samesite="lax")
        await response(scope, receive, send)
