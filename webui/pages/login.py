"""Login, logout, and the choice of language and theme."""

from __future__ import annotations

import math

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from ..core import access
from ..guard import STALE, Site, local_path
from ..rendering import CHOICES, Visit

routes = APIRouter()


@routes.get("/login")
async def ask_key(request: Request, visit: Visit) -> Response:
    """Ask for the key, or go on if it was given before.

    A link from the chat is asked for a press: chats look at links before anybody opens them.
    """
    wanted = local_path(visit.query.get("next", "/"))
    if request.state.login:
        return RedirectResponse(wanted, status_code=303)
    link, wrong = (visit.query.get(name, "") for name in ("link", "wrong"))
    wrong = wrong if wrong == "ended" else ""  # others are answers to what was sent
    return visit.render("login.html", next=wanted, link=link, wrong=wrong, wait=0)


@routes.post("/login")
async def enter(request: Request, visit: Visit) -> Response:
    """Try a key or a link: in with cookies, or once more, perhaps later."""
    keyring: access.Keyring = request.app.state.keyring
    site: Site = request.app.state.site
    given = visit.form
    wanted = local_path(given.get("next", "/"))
    browser = request.cookies.get(keyring.browser_cookie, "")
    if link := given.get("link", ""):
        pause, wrong = (None if keyring.access.redeem(link) else 0.0), "link"
    else:
        address, wrong = site.address_of(request.scope), "key"
        pause = await keyring.attempt(given.get("key", ""), address, browser)
    if pause is None:
        entered = RedirectResponse(wanted, status_code=303)
        for name, value, age in (
            (keyring.cookie, await keyring.issue(), access.SESSION_AGE),
            (keyring.browser_cookie, keyring.know(), access.BROWSER_AGE),
        ):
            secure = site.is_encrypted(request.scope)
            entered.set_cookie(
                name, value, max_age=age, httponly=True, secure=secure, samesite="strict"
            )
        return entered
    wait = math.ceil(pause)
    status = 429 if wait else 401
    response = visit.render("login.html", status, next=wanted, link="", wrong=wrong, wait=wait)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


@routes.post("/logout")
async def leave(request: Request) -> Response:
    """End a login; copies of its cookie are worth nothing any more."""
    keyring: access.Keyring = request.app.state.keyring
    if request.state.login:
        await keyring.revoke(request.state.login)
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(keyring.cookie)
    return response


@routes.get(STALE)
@routes.get("/memories/act")
async def out_of_date(visit: Visit) -> Response:
    """Say that nothing was done: the form was of a login that has ended."""
    return visit.render("error.html", 403, code=403, detail="")


@routes.get("/preferences")
async def prefer(visit: Visit, back: str = "/") -> Response:
    """Keep a language or a theme in a cookie, without scripts or a login."""
    response = RedirectResponse(local_path(back), 303)
    for name, (cookie, accepted) in CHOICES.items():
        value = visit.query.get(name, "")
        if value in accepted:
            response.set_cookie(
                cookie, value, max_age=access.BROWSER_AGE, httponly=True, samesite="lax"
            )
    return response
