"""Templates, and what every page is rendered with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from graph_memory.model import Fact

from .auth import Keyring, Login
from .guard import local_path
from .i18n import LANGUAGES, Words
from .icons import ICONS
from .shapes import SHAPES, shape_of

_TEMPLATES = Path(__file__).parent / "templates"
LANGUAGE_COOKIE = "gm_language"
THEME_COOKIE = "gm_theme"
FLASH_COOKIE = "gm_done"
THEMES = ("auto", "light", "dark")
SLICE = 800
"""Pieces of a page that are written at a time: about 1 ms."""
PLACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("overview", "/", ()),
    ("memories", "/memories", ("/memories", "/node")),
    ("graph", "/graph", ("/graph",)),
    ("viewas", "/viewas", ("/viewas",)),
    ("why", "/why", ("/why",)),
    ("records", "/records", ("/records", "/messages")),
    ("tuning", "/tuning", ("/tuning",)),
    ("data", "/data", ("/data", "/changes")),
)
"""The main pages: name, address, and what the addresses begin with that belong to them."""


class Page(HTMLResponse):
    """A page that is written in slices, so that a chat's recall need not wait for all of it.

    Args:
        pieces: Its text, worked out as it is taken.
    """

    def __init__(self, pieces: Iterator[str], status: int) -> None:
        super().__init__("", status)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slices = []
        while some := list(islice(self._pieces, SLICE)):
            slices.append("".join(some))
            await asyncio.sleep(0)
        self.body = "".join(slices).encode()
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


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
            icons=ICONS, shapes=SHAPES, shape_of=shape_of, memory_url=memory_url, node_url=node_url
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
        pieces = self._environment.get_template(template).generate(
            t=words,
            theme=theme if theme in THEMES else "auto",
            themes=THEMES,
            languages=LANGUAGES,
            login=login,
            token=self._keyring.token(login) if login else "",
            path=request.scope["path"],
            here=_here(request),
            places=PLACES,
            switch=lambda **values: _switch(request, values),
            done=done,
            overheard=_is_overheard(request),
            **context,
        )
        response = Page(pieces, status)
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


def memory_url(fact: Fact | str) -> str:
    """Address of a fact's own page, by the fact or its id."""
    return f"/memories/{quote(fact if isinstance(fact, str) else fact.id, safe=':')}"


def node_url(node: str) -> str:
    """Address of a person's or a thing's own page."""
    return "/node?" + urlencode({"id": node})


def _here(request: Request) -> str:
    """This page's address, to come back to."""
    query = request.url.query
    return local_path(request.scope["path"] + (f"?{query}" if query else ""))


def _is_overheard(request: Request) -> bool:
    """Whether this page travels between machines unencrypted, as far as can be told."""
    try:
        is_local = ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        is_local = False
    # Whoever sends this header without a proxy deceives nobody but themselves.
    told = request.headers.get("x-forwarded-proto", request.url.scheme)
    return not is_local and told != "https"


def _switch(request: Request, values: Mapping[str, str]) -> str:
    """This page's address, asking for another language or theme."""
    if request.method != "GET":
        return "?" + urlencode(values)
    kept = [(k, v) for k, v in request.query_params.multi_items() if k not in values]
    return "?" + urlencode([*kept, *values.items()])
