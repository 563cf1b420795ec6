"""Attribution of statements: in whose words they stand, and so whose they are.

The messages that a model cites for a statement prove nothing by themselves: what it states
has to stand in them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from ..model import Message
from ..text import characters, significance, terms

MOST = 2 / 3
"""Share of a statement that is enough, whoever else has said it."""
_DATE = re.compile(
    r"\d{4}[-年./]\d{1,2}(?:[-月./]\d{1,2}[日号]?)?|\d{1,2}[、,和]\d{1,2}[日号]|as of"
)
"""What a model adds to a statement, and what nobody says like that."""


def content(text: str) -> set[str]:
    """What a text is about: its words, and Chinese characters, that say something."""
    plain = _DATE.sub(" ", text)
    words = (word for word in terms(plain) if word.isascii())
    return {each for each in (*words, *characters(plain)) if significance(each)}


def share(statement: str, said: Iterable[str], known: Collection[str] = ()) -> float:
    """Share of what a statement is about that stands in some texts, 0…1.

    Args:
        known: Names, which say of whom it is and not what.
    """
    about = content(statement)
    about = about.difference(*map(content, known)) or about
    return len(about & content("\n".join(said))) / len(about) if about else 1.0


def speaker_of(
    statement: str,
    subject: str,
    evidence: Sequence[Message],
    around: Iterable[Message],
    known: Collection[str] = (),
) -> str:
    """Whose word a statement is: its subject's, another sender's, or nobody's (empty).

    It is the subject's own if most of it stands in their cited messages, or some of it and no
    more in what anybody else says: who words it in full is who says it.

    Args:
        around: What else was said meanwhile.
        known: Names of people.
    """
    told, heard = (_by_sender(messages) for messages in (evidence, around))
    own = share(statement, told.pop(subject, ()), known)
    heard.pop(subject, None)
    rival = max((share(statement, said, known) for said in heard.values()), default=0.0)
    if own >= MOST or (own > 0 and own >= rival):
        return subject
    shares = {sender: share(statement, said, known) for sender, said in told.items()}
    other = max(shares, key=lambda sender: shares[sender], default="")
    return other if other and shares[other] > 0 else ""


def _by_sender(messages: Iterable[Message]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        told[message.sender].append(message.text)
    return told
