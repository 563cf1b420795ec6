"""Templates, and what every page is rendered with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from graph_memory.model import Fact

from .auth import Keyring, Login
from .i18n import LANGUAGES, Words
from .schema import state_of
from .shapes import SHAPES, shape_of

_TEMPLATES = Path(__file__).parent / "templates"
LANGUAGE_COOKIE = "gm_language"
THEME_COOKIE = "gm_theme"
FLASH_COOKIE = "gm_done"
THEMES = ("auto", "light", "dark")


class Pages:
    """Renders pages.

    Args:
        language: Used for who has not chosen one.
        zone: In which times are shown.
    """

    def __init__(self, keyring: Keyring, language: str, zone: tzinfo | None) -> None:
        self._keyring = keyring
        self._language = language if language in LANGUAGES else "zh"
        self._zone = zone
        self._environment = Environment(
            loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            shapes=SHAPES, shape_of=shape_of, state_of=state_of, memory_url=memory_url
        )
        for name in self._environment.list_templates():
            self._environment.get_template(name)  # compiled now, not while somebody waits

    def words(self, request: Request) -> Words:
        """The reader's language."""
        chosen = request.cookies.get(LANGUAGE_COOKIE, "")
        return Words(chosen if chosen in LANGUAGES else self._language, self._zone)

    def render(
        self, request: Request, template: str, status: int = 200, **context: Any
    ) -> HTMLResponse:
        """A page.

        Args:
            context: The template's variables.
        """
        words = self.words(request)
        theme = request.cookies.get(THEME_COOKIE, "")
        login: Login | None = getattr(request.state, "login", None)
        sealed = request.cookies.get(FLASH_COOKIE, "")
        done = self._keyring.unseal(sealed) if sealed and login else {}
        html = self._environment.get_template(template).render(
            t=words,
            theme=theme if theme in THEMES else "auto",
            themes=THEMES,
            languages=LANGUAGES,
            login=login,
            token=self._keyring.token(login) if login else "",
            path=request.scope["path"],
            switch=lambda **values: _switch(request, values),
            done=done,
            **context,
        )
        response = HTMLResponse(html, status)
        if sealed:
            response.delete_cookie(FLASH_COOKIE)
        return response

    def redirect(self, url: str, **done: Any) -> Response:
        """Go to another page of ours and say there what was done.

        Args:
            url: A path of this server.
            done: ``what`` (key of a message below ``done.``) and ``change`` to undo.
        """
        response = RedirectResponse(url, status_code=303)
        if done:
            response.set_cookie(
                FLASH_COOKIE, self._keyring.seal(done), max_age=60, httponly=True, samesite="strict"
            )
        return response


def memory_url(fact: Fact) -> str:
    """Address of a fact's own page."""
    return f"/memories/{quote(fact.id, safe=':')}"


def _switch(request: Request, values: Mapping[str, str]) -> str:
    """This page's address, asking for another language or theme."""
    if request.method != "GET":
        return "?" + urlencode(values)
    kept = [(k, v) for k, v in request.query_params.multi_items() if k not in values]
    return "?" + urlencode([*kept, *values.items()])
