"""Whom to forget, for good: salted hashes that outlive every restore.

The book lies beside the journal, not in it, because the journal is what a restore
replaces. It is written before anything is erased, so that a kill loses no wish, and says
of whom all is done.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..errors import JournalError
from ..journal import copies

BOOK = "erased.json"
_ROUNDS = 5_000
"""Of the hash: a millisecond or two for each user when a restored journal is looked through."""


@dataclass(frozen=True, slots=True)
class Stone:
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
class Book:
    """The stones of one data directory; made by :meth:`read`."""

    path: Path
    salt: str
    stones: list[Stone] = field(default_factory=list)
    _known: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> Book:
        """The book as it stands; an empty one if there is none.

        Raises:
            JournalError: It cannot be read.
        """
        path = directory / BOOK
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, str(data["salt"]), [Stone(**stone) for stone in data["stones"]])
        except FileNotFoundError:
            return cls(path, secrets.token_hex(16))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise JournalError(
                f"{path} says who is to stay forgotten and cannot be read: {error}"
            ) from error

    def lay(self, user: str, now: float) -> Stone:
        """Write down that a user is to be erased; when this returns it is on disk.

        Raises:
            JournalError: It could not be written.
        """
        id = self.hash(user)
        # Later than before, whatever the clock says: what was marked then is due again.
        before = max((stone.at for stone in self.stones if stone.id == id), default=now - 1)
        stone = Stone(id, max(now, before + 1))
        self.stones = [*(other for other in self.stones if other.id != id), stone]
        self._write()
        return stone

    def finish(self) -> None:
        """Write down that all is done.

        Raises:
            JournalError: It could not be written.
        """
        if any(not stone.done for stone in self.stones):
            self.stones = [replace(stone, done=True) for stone in self.stones]
            self._write()

    @property
    def is_finished(self) -> bool:
        return all(stone.done for stone in self.stones)

    def hash(self, user: str) -> str:
        """What stands for a user here."""
        if user not in self._known:
            digest = hashlib.pbkdf2_hmac("sha256", user.encode(), self.salt.encode(), _ROUNDS, 16)
            self._known[user] = digest.hex()
        return self._known[user]

    def match(self, users: Iterable[str]) -> dict[str, str]:
        """Those of ``users`` that have a stone, by its id."""
        wanted = {stone.id for stone in self.stones}
        return {id: user for user in users if (id := self.hash(user)) in wanted}

    def _write(self) -> None:
        body = {"salt": self.salt, "stones": [asdict(stone) for stone in self.stones]}
        draft = self.path.with_suffix(".tmp")
        try:
            draft.write_text(json.dumps(body), encoding="utf-8")
            os.chmod(draft, 0o600)
            copies.settle(draft, self.path)
        except OSError as error:
            raise JournalError(f"{self.path} could not be written: {error}") from error
