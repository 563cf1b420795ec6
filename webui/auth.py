"""The key, and the signed cookies it turns into."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from graph_memory.errors import SettingError

MIN_KEY = 8
SESSION_AGE = 14 * 86_400
"""Seconds until one has to log in again."""
FLASH_AGE = 120
MAX_REVOKED = 1024


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


class Keyring:
    """Checks the key, and makes and reads what is signed with it.

    Everything signed derives from the key, so a changed key logs everyone out.

    Args:
        key: What logs in; at least 8 characters.

    Raises:
        SettingError: The key is too short.
    """

    def __init__(self, key: str) -> None:
        if len(key) < MIN_KEY:
            raise SettingError("webui_key", f"shorter than {MIN_KEY} characters")
        self._digest = _digest(key)
        # A signature is something a key can be guessed against at leisure, hence the
        # slow derivation (about 50 ms, once).
        secret = hashlib.scrypt(_bytes(key), salt=b"graph-memory/webui", n=2**14, r=8, p=1)
        self._csrf = hmac.digest(secret, b"csrf", "sha256")
        self._sessions = URLSafeTimedSerializer(secret, salt="session")
        self._flashes = URLSafeTimedSerializer(secret, salt="flash")
        self._revoked: OrderedDict[str, None] = OrderedDict()
        # Browsers send cookies to every port of a host: two bots need two names.
        self.cookie = "gm_" + hmac.digest(secret, b"cookie", "sha256").hex()[:8]

    def matches(self, given: str) -> bool:
        """Whether ``given`` is the key, in time that does not depend on it."""
        return hmac.compare_digest(self._digest, _digest(given))

    def issue(self) -> str:
        """The value of a new session cookie."""
        return str(self._sessions.dumps(secrets.token_urlsafe(18)))

    def login(self, cookie: str) -> Login | None:
        """Who a session cookie belongs to; ``None`` if it is not a good one."""
        try:
            id = self._sessions.loads(_bytes(cookie), max_age=SESSION_AGE)
        except BadSignature:
            return None
        return Login(id) if isinstance(id, str) and id and id not in self._revoked else None

    def revoke(self, login: Login) -> None:
        """Log out: the cookie is worth nothing from now on, copies included."""
        self._revoked[login.id] = None
        while len(self._revoked) > MAX_REVOKED:
            self._revoked.popitem(last=False)

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
        try:
            data = self._flashes.loads(_bytes(cookie), max_age=FLASH_AGE)
        except BadSignature:
            return {}
        return data if isinstance(data, dict) else {}


def _digest(key: str) -> bytes:
    return hashlib.sha256(_bytes(key)).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
