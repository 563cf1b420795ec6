"""Rendering of pages from templates, with the reader's language and theme."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from .core import errors, locales, model, pinyin, queries, service, settings, text
from .guard import DASHBOARD, FLASH_COOKIE, LANGUAGE_COOKIE, THEME_COOKIE, is_ip, local_path

logger = logging.getLogger("graph_memory.webui")
_TEMPLATES = Path(__file__).parent / "templates"
THEMES = ("auto", "light", "dark")
CHOICES = {"language": (LANGUAGE_COOKIE, tuple(locales.LANGUAGES)), "theme": (THEME_COOKIE, THEMES)}
SLICE = 800
"""Pieces of a page that are written at a time: about 1 ms."""
SOON = 1.0
"""Seconds that a form waits for long work; after that a page shows how far it is."""
PLACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("overview", "/", ()),
    ("memories", "/memories", ("/memories", "/review")),
    ("people", "/people", ("/people", "/node", "/persona")),
    ("graph", "/graph", ("/graph",)),
    ("viewas", "/viewas", ("/viewas",)),
    ("why", "/why", ("/why",)),
    ("records", "/records", ("/records", "/messages")),
    ("tuning", "/tuning", ("/tuning",)),
    ("data", "/data", ("/data", "/changes")),
)
"""The main pages: name, address, and how the addresses begin that belong to them."""


class SlicedPage(Response):
    """Page that is written in slices, so that a chat's recall need not wait for it.

    Args:
        begin: Gives the pieces; called in a thread.
    """

    def __init__(self, begin: Callable[[], Iterator[str]], status: int) -> None:
        super().__init__("", status, media_type="text/html")
        self._begin = begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slices, pieces = [], await asyncio.to_thread(self._begin)
        while some := list(islice(pieces, SLICE)):
            slices.append("".join(some))
            await asyncio.sleep(0)
        self.body = "".join(slices).encode()
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


@cache
def templates() -> Environment:
    """The templates, each compiled when it is first wanted (all: .4 s and 20 MB)."""
    found = Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(memory_url=memory_url, node_url=node_url, sound=_sound, apart=_apart)
    return found


class PageRequest:
    """A request for a page: what was sent, in whose language, and how it is answered.

    Args:
        marks: Of what had happened before anything was read (:func:`marks`).
    """

    def __init__(self, request: Request, marks: str = "") -> None:
        self._request, self._marks = request, marks
        self.app = request.app.state
        """What all pages share; see ``create_app``."""
        options: settings.Settings = self.app.options
        chosen = request.cookies.get(LANGUAGE_COOKIE, "")
        language = chosen if chosen in locales.LANGUAGES else options.language
        self.words = locales.Translator(language, self.app.memory.zone, options.relations(language))

    @property
    def choices(self) -> dict[str, list[str]]:
        """The form that a page of ours sent, in which fields may be repeated."""
        return dict(self._request.state.form)

    @property
    def form(self) -> dict[str, str]:
        """The same form; of a repeated field the last value."""
        return {name: values[-1] for name, values in self.choices.items()}

    @property
    def query(self) -> Mapping[str, str]:
        """What stands behind the question mark."""
        return self._request.query_params

    def explain(self, error: BaseException) -> str:
        """What the reader is told of an error; the log has the details."""
        logger.warning("%s: %s", self._request.scope["path"], errors.brief(error))
        return self.words.error(error)

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page from a template and its variables."""
        request, keyring = self._request, self.app.keyring
        theme, sealed = (request.cookies.get(name, "") for name in (THEME_COOKIE, FLASH_COOKIE))
        login: str = getattr(request.state, "login", "")
        is_seen = sealed and request.headers.get("sec-fetch-mode", "navigate") == "navigate"
        values = dict(
            t=self.words,
            theme=theme if theme in THEMES else "auto",
            themes=THEMES,
            languages=locales.LANGUAGES,
            login=login,
            token=keyring.token(login) if login else "",
            marks=self._marks,
            path=request.scope["path"],
            here=local_path(request.scope["path"] + f"?{request.url.query}"),
            places=PLACES,
            done=keyring.unseal(sealed) if is_seen and login else {},
            overheard=_is_overheard(request),
            framed=DASHBOARD in request.scope,
            **context,
        )
        response = SlicedPage(lambda: templates().get_template(template).generate(values), status)
        if is_seen:  # by a person, not by a script of another window
            response.delete_cookie(FLASH_COOKIE)
        return response

    def redirect(self, url: str, **done: Any) -> Response:
        """Go to another page of ours and say there what was done.

        Args:
            done: ``what`` (key of a message below ``done.``) and ``change`` to undo.
        """
        return self.tell(RedirectResponse(url, status_code=303), **done)

    def tell(self, response: Response, **done: Any) -> Response:
        """Have the next page say what was done."""
        sealed = self.app.keyring.seal(done)
        response.set_cookie(FLASH_COOKIE, sealed, max_age=60, httponly=True, samesite="strict")
        return response


async def _memory_of(request: Request) -> Any:
    return request.app.state.memory


async def _visit(request: Request) -> PageRequest:
    return PageRequest(request, await marks(request.app.state) if request.state.login else "")


async def marks(state: Any) -> str:
    """What happened last, as JSON; a restart alters ``run``, and ``recalls`` with it."""
    newest = await state.memory.journal.look(queries.newest)
    recalls = f"{state.run} {state.memory.recall.traces.added}"
    return json.dumps({"run": state.run, **newest, "recalls": recalls})


Memory = Annotated[service.MemoryService, Depends(_memory_of)]
"""The memory that a page is about, as a parameter of its handler."""
Visit = Annotated[PageRequest, Depends(_visit)]
"""What a handler is asked and answers with, as a parameter."""


class FormError(Exception):
    """A form that came to nothing: said on the page ``back`` as ``done.<what>``."""

    def __init__(self, back: str, what: str) -> None:
        super().__init__(what)
        self.back, self.what = back, what


@contextlib.contextmanager
def or_back(back: str, **kinds: type[errors.GraphMemoryError]) -> Iterator[None]:
    """Have errors of what a form asks for said on the page ``back``.

    Args:
        kinds: Errors by the message that says them. Without any, all but
            :class:`NotFoundError` are, explained to the reader.
    """
    try:
        yield
    except errors.GraphMemoryError as error:
        for what, kind in kinds.items():
            if isinstance(error, kind):
                raise FormError(back, what) from error
        if kinds or isinstance(error, errors.NotFoundError):
            raise
        raise FormError(back, "failed") from error


def memory_url(fact: model.Fact | str) -> str:
    """Address of a fact's own page, by the fact or its id."""
    return f"/memories/{quote(fact if isinstance(fact, str) else fact.id, safe=':')}"


def node_url(node: str) -> str:
    """Address of a person's or a thing's own page."""
    return "/node?" + urlencode({"id": node})


def _sound(label: str) -> str:
    """How what a list offers is read, to be searched by pinyin."""
    return pinyin.sound(text.normalise(label))


def _apart(some: Iterable[Any]) -> dict[str, str]:
    """What to call each of a list, by its id: accounts and chats of one name by both."""
    pairs = [(each.node, each.name) if hasattr(each, "node") else each for each in some]
    often = Counter(name for id, name in pairs if not model.is_entity(id))
    return {id: f"{name} · {id}" if often[name] > 1 else name for id, name in pairs}


def _is_overheard(request: Request) -> bool:
    """Whether this page travels between machines unencrypted, as far as can be told."""
    host = request.client.host if request.client else ""
    # Who sends this header without a proxy deceives nobody but themselves.
    is_encrypted = request.headers.get("x-forwarded-proto") == "https"
    is_encrypted = is_encrypted or request.app.state.site.is_encrypted(request.scope)
    return not (is_encrypted or (is_ip(host) and ip_address(host).is_loopback))
