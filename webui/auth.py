"""Authentication: the key, signed cookies, and slowing down of guesses.

After a few wrong keys, whoever sent them waits, twice as long each time; after many, from
however many addresses, every stranger waits. A browser that logged in before is known by a
cookie, whatever its address, and waits for its own mistakes only. A link from the chat waits
for nobody: its code is too long to be guessed.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from .core import access

SESSION_AGE = 14 * 86_400
"""Seconds until one has to log in again."""
BROWSER_AGE = 365 * 86_400
"""Seconds for which a browser that logged in is known."""
FLASH_AGE = 120
FREE = 5
"""Wrong keys that may be sent before one has to wait."""
FREE_FOR_ALL = 50
"""Wrong keys of all strangers together before all of them have to wait."""
FIRST_WAIT = 4.0
"""Seconds of the first wait; each further wrong key doubles it."""
LONGEST_WAIT = 900.0
LONGEST_FOR_ALL = 60.0
FORGET_AFTER = 3600.0
"""Seconds after which one starts afresh."""
MAX_ADDRESSES = 2048
BROWSER = "browser:"
"""What stands before the id of a known browser, in place of an address."""

_Count = tuple[int, float]
"""How many wrong keys, and when the last one came."""


class Throttle:
    """Counts failures by who sent them, in bounded memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: OrderedDict[str, _Count] = OrderedDict()
        self._everybody: _Count = (0, 0.0)
        self._known: OrderedDict[str, None] = OrderedDict()

    def wait(self, client: str) -> float:
        """Seconds until an address or a known browser may try again; 0 if it may now."""
        name = network_of(client)
        own = self._left(self._failures.get(name, (0, 0.0)), FREE, LONGEST_WAIT)
        if self._is_known(name):
            return own
        return max(own, self._left(self._everybody, FREE_FOR_ALL, LONGEST_FOR_ALL))

    def fail(self, client: str) -> None:
        """Count a wrong key."""
        name = network_of(client)
        self._failures[name] = self._more(self._failures.pop(name, (0, 0.0)))
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)
        if not self._is_known(name):
            self._everybody = self._more(self._everybody)

    def clear(self, client: str) -> None:
        """Forget the failures of who knew the key."""
        name = network_of(client)
        self._failures.pop(name, None)
        self._known[name] = None
        self._known.move_to_end(name)
        if len(self._known) > MAX_ADDRESSES:
            self._known.popitem(last=False)

    def _is_known(self, name: str) -> bool:
        return name.startswith(BROWSER) or name in self._known

    def _more(self, count: _Count) -> _Count:
        failures, last = count
        now = self._now()
        return (1 if now - last > FORGET_AFTER else failures + 1, now)

    def _left(self, count: _Count, free: int, longest: float) -> float:
        failures, last = count
        if failures < free:
            return 0.0
        pause = min(longest, FIRST_WAIT * 2.0 ** min(failures - free, 16))
        return max(0.0, last + pause - self._now())


def network_of(address: str) -> str:
    """What one person can call theirs: an IPv4 address, or an IPv6 /64 network."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found), 64), strict=False))
    return str(found)


class Keyring:
    """Checks the key, and makes and reads what is signed.

    The secret is new for every key, so a changed key logs everyone out. ``access`` is what it
    goes by.
    """

    def __init__(self, access: access.Access) -> None:
        self.access = access
        self._throttle = Throttle()
        self._trying = asyncio.Lock()
        self._sessions, self._browsers, self._flashes = (
            URLSafeTimedSerializer(access.secret, salt=salt)
            for salt in ("session", "browser", "flash")
        )
        # Browsers send cookies to every port of a host: two bots need two names.
        self.cookie = "gm_" + hmac.digest(access.secret, b"cookie", "sha256").hex()[:8]
        self.browser_cookie = f"{self.cookie}_known"

    async def attempt(self, key: str, address: str, browser: str = "") -> float | None:
        """Try a key; ``None`` if it is right, else seconds until the next may be tried.

        Args:
            browser: The cookie that says that one logged in before.
        """
        known = self._read(self._browsers, browser, BROWSER_AGE)
        client = f"{BROWSER}{known}" if known else address
        async with self._trying:  # one after the other, or many would be tried before one counts
            if wait := self._throttle.wait(client):
                return wait
            if await asyncio.to_thread(self.access.matches, key.strip()):
                self._throttle.clear(client)
                return None
            self._throttle.fail(client)
            return self._throttle.wait(client)

    async def issue(self) -> str:
        """The value of a new session cookie."""
        id = secrets.token_urlsafe(18)
        await asyncio.to_thread(self.access.add, id)
        return str(self._sessions.dumps(id))

    def know(self) -> str:
        """The value of a cookie for a browser that logged in."""
        return str(self._browsers.dumps(secrets.token_urlsafe(18)))

    def login(self, cookie: str) -> str:
        """Random name of the login that a cookie is for; empty if it is not a good one."""
        id = self._read(self._sessions, cookie, SESSION_AGE)
        return str(id) if id and self.access.has(id) else ""

    async def revoke(self, login: str) -> None:
        """Log out: the cookie is worth nothing from now on, copies included.

        Raises:
            StorageError: It will be good again after a reload.
        """
        await asyncio.to_thread(self.access.end, login)

    def token(self, login: str) -> str:
        """The token every change has to carry that comes with this login's cookie.

        Another one each time: of compressed pages the length would tell a constant one.
        """
        return str(self._proofs(login).dumps(secrets.token_urlsafe(18)))

    def owns(self, login: str, token: str) -> bool:
        """Whether ``token`` is this login's."""
        return self._read(self._proofs(login), token, None) is not None

    def _proofs(self, login: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.access.secret, salt=f"csrf.{login}")

    def seal(self, data: dict[str, Any]) -> str:
        """Data for a cookie that only this server can have written."""
        return str(self._flashes.dumps(data))

    def unseal(self, cookie: str) -> dict[str, Any]:
        """What :meth:`seal` sealed within the last two minutes; else nothing."""
        data = self._read(self._flashes, cookie, FLASH_AGE)
        return data if isinstance(data, dict) else {}

    @staticmethod
    def _read(signed: URLSafeTimedSerializer, cookie: str, age: int | None) -> Any:
        try:
            return signed.loads(cookie.encode("utf-8", "surrogatepass"), max_age=age)
        except BadSignature:
            return None
