"""Getting in and out."""

from __future__ import annotations

import math

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from ..auth import BROWSER_AGE, SESSION_AGE, Keyring
from ..guard import local_path, read_form
from ..site import Site
from ..view import Pages


def router(keyring: Keyring, site: Site, pages: Pages) -> APIRouter:
    """``/login`` and ``/logout``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/login")
    async def form(request: Request) -> Response:
        wanted = local_path(request.query_params.get("next", "/"))
        if request.state.login:
            return RedirectResponse(wanted, status_code=303)
        return pages.render(request, "login.html", next=wanted, wrong=False, wait=0)

    @routes.post("/login")
    async def enter(request: Request) -> Response:
        given = await read_form(request)
        wanted = local_path(given.get("next", "/"))
        browser = request.cookies.get(keyring.browser_cookie, "")
        address = site.address_of(request.scope)
        attempt = await keyring.attempt(given.get("key", ""), address, browser)
        if attempt.is_right:
            entered = RedirectResponse(wanted, status_code=303)
            for name, value, age in (
                (keyring.cookie, await keyring.issue(), SESSION_AGE),
                (keyring.browser_cookie, keyring.know(), BROWSER_AGE),
            ):
                entered.set_cookie(
                    name,
                    value,
                    max_age=age,
                    httponly=True,
                    secure=site.is_encrypted(request.scope),
                    samesite="strict",
                )
            return entered
        wait = math.ceil(attempt.wait)
        status = 429 if wait else 401
        response = pages.render(request, "login.html", status, next=wanted, wrong=True, wait=wait)
        if wait:
            response.headers["Retry-After"] = str(wait)
        return response

    @routes.post("/logout")
    async def leave(request: Request) -> Response:
        if request.state.login and not request.state.login.is_bearer:
            await keyring.revoke(request.state.login)
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(keyring.cookie)
        return response

    return routes
