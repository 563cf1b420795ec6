"""Access to the memory page: key, logins, cookies, rate limiting of wrong keys.

What is kept lies beside the journal, not in it: a backup that is given away opens nothing.

After a few wrong keys, whoever sent them waits, twice as long each time; after many, from
however many addresses, every stranger waits. A browser that logged in before is known by a
cookie, whatever its address, and waits for its own mistakes only. A link from the chat waits
for nobody: its code is too long to be guessed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from .data_directory import writing
from .errors import SettingError, StorageError
from .process_memory import Newest
from .settings import MIN_KEY
from .store.connection import failing

logger = logging.getLogger("graph_memory.access")

FILE = "webui.json"
MAX_LOGINS = 64
"""Logins at once; one more ends the oldest."""
LINK_AGE = 600.0
"""Seconds for which a link logs in."""
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
_PROCESS = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the file says, in hexadecimal."""

    salt: str
    hash: str  # of the key; slow, since a file can be guessed against
    secret: str  # new for every key, so that a changed key logs everyone out
    is_own: bool  # the key is from the settings
    logins: list[str]  # hashes of ids, the newest last


class Access:
    """What opens the memory page; made by :meth:`open`.

    Attributes:
        secret: Signs cookies.
        new_key: The key, if it was made just now: it is kept nowhere.
    """

    def __init__(self, path: Path, kept: _Kept, new_key: str = "") -> None:
        self._path = path
        self._kept = kept
        self._logins = dict.fromkeys(kept.logins)
        self._lock = threading.Lock()
        self._fast: bytes | None = None
        self._link = ("", 0.0)  # hash of its code, and until when it is good
        self.secret = bytes.fromhex(kept.secret)
        self.new_key = new_key

    @classmethod
    def open(cls, directory: Path, own_key: str) -> Access:
        """The access to the memory in ``directory``. Blocks for about 50 ms.

        Args:
            own_key: The key of the settings; if there is none, one is made.

        Raises:
            SettingError: The key of the settings is too short.
            StorageError: What is kept cannot be read or written.
        """
        if own_key and len(own_key) < MIN_KEY:
            raise SettingError("webui_key", f"shorter than {MIN_KEY} characters")
        path = directory / FILE
        kept = _read(path)
        if kept and kept.is_own == bool(own_key):
            access = cls(path, kept)
            if not own_key or access.matches(own_key):
                return access
        key = own_key or secrets.token_urlsafe(18)
        salt = secrets.token_bytes(16)
        made = _Kept(salt.hex(), _slow(key, salt).hex(), secrets.token_hex(32), bool(own_key), [])
        access = cls(path, made, "" if own_key else key)
        access._save()
        return access

    def matches(self, given: str) -> bool:
        """Whether ``given`` is the key. Blocks for about 50 ms until it first was."""
        fast = hmac.digest(_PROCESS, _bytes(given), "sha256")
        if self._fast is not None:
            return hmac.compare_digest(fast, self._fast)
        slow = _slow(given, bytes.fromhex(self._kept.salt))
        if not hmac.compare_digest(slow, bytes.fromhex(self._kept.hash)):
            return False
        self._fast = fast
        return True

    def has(self, login: str) -> bool:
        """Whether the login with this id is good."""
        return _name(login) in self._logins

    def add(self, login: str) -> None:
        """Let a login be good; on a full disk until the plugin is reloaded. Blocks."""
        with self._lock:
            self._logins[_name(login)] = None
            while len(self._logins) > MAX_LOGINS:
                del self._logins[next(iter(self._logins))]
        try:
            self._save()
        except StorageError as error:
            logger.warning("a login will not outlive a reload: %s", error)

    def end(self, login: str) -> None:
        """Let a login be good no more. Blocks.

        Raises:
            StorageError: It will be good again after a reload.
        """
        with self._lock:
            known = _name(login) in self._logins
            self._logins.pop(_name(login), None)
        if known:
            self._save()

    def link(self) -> str:
        """A code that logs in once in place of the key; those given before do so no more."""
        code = secrets.token_urlsafe(18)
        self._link = (_name(code), time.monotonic() + LINK_AGE)
        return code

    def redeem(self, code: str) -> bool:
        """Whether ``code`` is a link's; it is good no more then."""
        name, until = self._link
        if time.monotonic() >= until or not hmac.compare_digest(_name(code), name):
            return False
        self._link = ("", 0.0)
        return True

    def _save(self) -> None:
        what = f"{self._path} could not be written"
        with failing(what), self._lock, writing(self._path) as file:
            json.dump(asdict(self._kept) | {"logins": [*self._logins]}, file)


def _read(path: Path) -> _Kept | None:
    """What is kept; ``None`` if there is nothing, or nothing that makes sense."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kept = _Kept(**data)
        for part in (kept.salt, kept.hash, kept.secret):
            if len(bytes.fromhex(part)) < 16:
                raise ValueError("too short")
        return _Kept(kept.salt, kept.hash, kept.secret, bool(kept.is_own), [*map(str, kept.logins)])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    except (ValueError, TypeError, RecursionError):
        logger.warning("%s makes no sense: whoever was logged in has to log in again", path)
        return None


def _name(login: str) -> str:
    return hashlib.sha256(_bytes(login)).hexdigest()[:32]


def _slow(key: str, salt: bytes) -> bytes:
    return hashlib.scrypt(_bytes(key), salt=salt, n=2**14, r=8, p=1)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_Count = tuple[int, float]
"""How many wrong keys, and when the last one came."""


class Throttle:
    """Counts failures by who sent them, in bounded memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = Newest[str, _Count](MAX_ADDRESSES)
        self._everybody: _Count = (0, 0.0)
        self._known = Newest[str, None](MAX_ADDRESSES)

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
        self._failures[name] = self._more(self._failures.get(name, (0, 0.0)))
        if not self._is_known(name):
            self._everybody = self._more(self._everybody)

    def clear(self, client: str) -> None:
        """Forget the failures of who knew the key."""
        name = network_of(client)
        self._failures.pop(name, None)
        self._known[name] = None

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

    def __init__(self, access: Access) -> None:
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
