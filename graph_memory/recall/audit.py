"""Whether an index says what the journal says: compared with one that was just built."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Message
from .index import Index


@dataclass(frozen=True, slots=True)
class Difference:
    """What was wrong with an index, in keys of documents.

    Attributes:
        missing: Not there.
        surplus: There, but not in the journal.
        stale: There, but with another text or Session, or recalled though forgotten.
        vectorless: How many had no vector and did not wait for one either.
        documents: How many there should be.
    """

    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    vectorless: int = 0
    documents: int = 0

    @property
    def count(self) -> int:
        """How many documents were wrong."""
        return len(self.missing) + len(self.surplus) + len(self.stale)


def differences(index: Index, built: Index) -> Difference:
    """What is wrong with ``index``, given one that was ``built`` from the journal just now.

    While it grows an index keeps some more old messages than one that is built; they are
    no mistake.
    """
    found, wanted = _documents(index), _documents(built)
    oldest = min((int(key[1:]) for key in wanted if _is_message(built, key)), default=0)
    surplus = (
        key
        for key in found.keys() - wanted.keys()
        if not (_is_message(index, key) and int(key[1:]) < oldest)
    )
    return Difference(
        missing=tuple(sorted(wanted.keys() - found.keys())),
        surplus=tuple(sorted(surplus)),
        stale=tuple(sorted(k for k in wanted.keys() & found.keys() if wanted[k] != found[k])),
        vectorless=index.lost_vectors(),
        documents=len(wanted),
    )


def _documents(index: Index) -> dict[str, tuple[str, str, bool]]:
    documents = index.documents
    muted = documents.muted.values
    return {
        (item := documents[number]).key: (item.text, item.session, bool(muted[number]))
        for number in documents.numbers()
    }


def _is_message(index: Index, key: str) -> bool:
    number = index.documents.number(key)
    return number is not None and isinstance(index.documents[number].source, Message)
