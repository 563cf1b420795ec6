"""Access to the memory page: its key, links in its place, and good logins.

They lie beside the journal, not in it: a backup that is given away opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from .data_directory import writing
from .errors import SettingError, StorageError
from .settings import MIN_KEY
from .store.connection import failing

logger = logging.getLogger("graph_memory.access")

FILE = "webui.json"
MAX_LOGINS = 64
"""Logins at once; one more ends the oldest."""
LINK_AGE = 600.0
"""Seconds for which a link logs in."""
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
