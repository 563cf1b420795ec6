"""Getting in and out."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from ..auth import SESSION_AGE, Keyring
from ..guard import address_of, local_path, read_form
from ..throttle import Throttle
from ..view import Pages


def router(keyring: Keyring, throttle: Throttle, pages: Pages) -> APIRouter:
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
        address = address_of(request.scope)
        wait = throttle.wait(address)
        if not wait and keyring.matches(given.get("key", "").strip()):
            throttle.clear(address)
            entered = RedirectResponse(wanted, status_code=303)
            entered.set_cookie(
                keyring.cookie,
                keyring.issue(),
                max_age=SESSION_AGE,
                httponly=True,
                secure=request.url.scheme == "https",
                samesite="strict",
            )
            return entered
        if not wait:
            throttle.fail(address)
            wait = throttle.wait(address)
        status = 429 if wait else 401
        response = pages.render(
            request, "login.html", status, next=wanted, wrong=True, wait=int(wait + 0.999)
        )
        if wait:
            response.headers["Retry-After"] = str(int(wait + 0.999))
        return response

    @routes.post("/logout")
    async def leave(request: Request) -> Response:
        if request.state.login and not request.state.login.is_bearer:
            keyring.revoke(request.state.login)
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(keyring.cookie)
        return response

    return routes
