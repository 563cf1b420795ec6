"""Tombstones of forgotten people: salted hashes that outlive every restore.

They lie beside the journal, not in it, because the journal is what a restore replaces. A
tombstone is written before anything is erased, so that a kill loses no wish, and says
whether every file was cleaned.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..errors import JournalError
from ..private import writing

FILE = "erased.json"
_VERSION = 2
_ROUNDS = 5_000
_COST = 2**12
"""Of scrypt (RFC 7914): 4 MiB and some 8 ms for each user. To try all four billion numbers
that an account may have takes a year of a processor."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """That a user was erased.

    Attributes:
        id: Salted hash of the user's id.
        at: When, seconds since the epoch.
        done: Whether nothing is left of the user in any file.
    """

    id: str
    at: float
    done: bool = False


@dataclass(slots=True)
class Tombstones:
    """The tombstones of one data directory; several threads may use it."""

    path: Path
    salt: str
    stones: list[Tombstone] = field(default_factory=list)
    _known: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def read(cls, directory: Path) -> Tombstones:
        """What is there; empty if there is no file.

        Raises:
            JournalError: It cannot be read.
        """
        path = directory / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = cls(path, str(data["salt"]), [Tombstone(**each) for each in data["stones"]])
            if data.get("version", 1) < _VERSION:  # only the first of the two hashes
                found.stones = [replace(s, id=found._slow(s.id)) for s in found.stones]
        except FileNotFoundError:
            return cls(path, secrets.token_hex(16))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise JournalError(
                f"{path} says who is to stay forgotten and cannot be read: {type(error).__name__}"
            ) from error
        return found

    def add(self, user: str, now: float) -> Tombstone:
        """Write down that a user is to be erased; when this returns it is on disk.

        Raises:
            JournalError: It could not be written.
        """
        with self._lock:
            before = self.find(user)
            # Later than before, whatever the clock says: what was marked then is due again.
            stone = Tombstone(self.hash(user), max(now, before.at + 1) if before else now)
            self._write([*(other for other in self.stones if other.id != stone.id), stone])
        return stone

    def find(self, user: str) -> Tombstone | None:
        """The tombstone of a user, if there is one."""
        if not self.stones:
            return None
        id = self.hash(user)
        return next((stone for stone in self.stones if stone.id == id), None)

    def finish(self, stones: Iterable[Tombstone]) -> None:
        """Write down that no file holds anything of these users any more.

        Raises:
            JournalError: It could not be written.
        """
        done = set(stones)
        with self._lock:
            self._write([replace(s, done=True) if s in done else s for s in self.stones])

    @property
    def unfinished(self) -> list[Tombstone]:
        """Those of users who may still be in some file."""
        return [stone for stone in self.stones if not stone.done]

    def hash(self, user: str) -> str:
        """What stands for a user here."""
        if user not in self._known:
            first = hashlib.pbkdf2_hmac("sha256", user.encode(), self._salt, _ROUNDS, 16)
            self._known[user] = self._slow(first.hex())
        return self._known[user]

    def match(self, users: Iterable[str]) -> dict[str, str]:
        """Those of ``users`` that have a tombstone, by its id."""
        wanted = {stone.id for stone in self.stones}
        return {id: user for user in users if wanted and (id := self.hash(user)) in wanted}

    @property
    def _salt(self) -> bytes:
        return self.salt.encode()

    def _slow(self, digest: str) -> str:
        hashed = hashlib.scrypt(bytes.fromhex(digest), salt=self._salt, n=_COST, r=8, p=1, dklen=16)
        return hashed.hex()

    def _write(self, stones: list[Tombstone]) -> None:
        body = {
            "version": _VERSION, "salt": self.salt, "stones": [asdict(stone) for stone in stones]
        }  # fmt: skip
        try:
            with writing(self.path) as file:
                json.dump(body, file)
        except OSError as error:
            raise JournalError(f"{self.path} could not be written: {error.strerror}") from error
        self.stones = stones
