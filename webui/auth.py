"""The key, and the signed cookies it turns into."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from graph_memory.access import Access

from .throttle import BROWSER, Throttle

SESSION_AGE = 14 * 86_400
"""Seconds until one has to log in again."""
BROWSER_AGE = 365 * 86_400
"""Seconds for which a browser that logged in is known, see ``throttle.py``."""
FLASH_AGE = 120


@dataclass(frozen=True, slots=True)
class Login:
    """Somebody who has shown the key.

    Attributes:
        id: Random name of a browser session; empty when a bearer header was sent.
    """

    id: str = ""

    @property
    def is_bearer(self) -> bool:
        """Whether the key itself came with the request, which no browser does unasked."""
        return not self.id


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of trying a key.

    Attributes:
        wait: Seconds until the next one may be tried; 0 if it may be now.
    """

    is_right: bool
    wait: float = 0.0


class Keyring:
    """Checks the key, and makes and reads what is signed.

    Everything is signed with a secret that is new for every key, so a changed key logs
    everyone out.
    """

    def __init__(self, access: Access, throttle: Throttle | None = None) -> None:
        self._access = access
        self._throttle = throttle or Throttle()
        self._trying = asyncio.Lock()
        self._csrf = hmac.digest(access.secret, b"csrf", "sha256")
        self._sessions = URLSafeTimedSerializer(access.secret, salt="session")
        self._browsers = URLSafeTimedSerializer(access.secret, salt="browser")
        self._flashes = URLSafeTimedSerializer(access.secret, salt="flash")
        # Browsers send cookies to every port of a host: two bots need two names.
        self.cookie = "gm_" + hmac.digest(access.secret, b"cookie", "sha256").hex()[:8]
        self.browser_cookie = f"{self.cookie}_known"

    async def attempt(self, key: str, address: str, browser: str = "") -> Attempt:
        """Try a key.

        Args:
            address: Of who sent it.
            browser: Its cookie that says it logged in before.
        """
        known = self._read(self._browsers, browser, BROWSER_AGE)
        client = f"{BROWSER}{known}" if known else address
        async with self._trying:  # one after the other, or many would be tried before one counts
            if wait := self._throttle.wait(client):
                return Attempt(False, wait)
            if await asyncio.to_thread(self._access.matches, key.strip()):
                self._throttle.clear(client)
                return Attempt(True)
            self._throttle.fail(client)
            return Attempt(False, self._throttle.wait(client))

    async def issue(self) -> str:
        """The value of a new session cookie."""
        id = secrets.token_urlsafe(18)
        await asyncio.to_thread(self._access.add, id)
        return str(self._sessions.dumps(id))

    def know(self) -> str:
        """The value of a cookie for a browser that logged in."""
        return str(self._browsers.dumps(secrets.token_urlsafe(18)))

    def login(self, cookie: str) -> Login | None:
        """Who a session cookie belongs to; ``None`` if it is not a good one."""
        id = self._read(self._sessions, cookie, SESSION_AGE)
        return Login(id) if id and self._access.has(id) else None

    async def revoke(self, login: Login) -> None:
        """Log out: the cookie is worth nothing from now on, copies included.

        Raises:
            StorageError: It will be good again after a reload.
        """
        await asyncio.to_thread(self._access.end, login.id)

    def token(self, login: Login) -> str:
        """The token every change has to carry that comes with this login's cookie."""
        return hmac.digest(self._csrf, login.id.encode(), "sha256").hex()

    def owns(self, login: Login, token: str) -> bool:
        """Whether ``token`` is this login's."""
        return hmac.compare_digest(self.token(login).encode(), _bytes(token))

    def seal(self, data: dict[str, Any]) -> str:
        """Small data for a cookie that only this server can have written."""
        return str(self._flashes.dumps(data))

    def unseal(self, cookie: str) -> dict[str, Any]:
        """What :meth:`seal` sealed within the last two minutes; else nothing."""
        data = self._read(self._flashes, cookie, FLASH_AGE)
        return data if isinstance(data, dict) else {}

    @staticmethod
    def _read(signed: URLSafeTimedSerializer, cookie: str, age: int) -> Any:
        try:
            return signed.loads(_bytes(cookie), max_age=age)
        except BadSignature:
            return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
