"""Attribution of statements: in whose words they stand, and so whose they are.

The messages that a model cites for a statement prove nothing by themselves: what it states
has to stand in them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from ..model import Message
from ..privacy.confidence import asks_to_keep
from ..text import content

MOST = 2 / 3
"""Share of a statement that somebody has to say again to vouch for it."""
_DATE = re.compile(
    r"\d{4}[-年./]\d{1,2}(?:[-月./]\d{1,2}[日号]?)?|\d{1,2}[、,和]\d{1,2}[日号]|as of"
)
"""What a model adds to a statement, and what nobody says like that."""

_OVER = re.compile(
    r"[不没].*了|早就|换|\b(?:not?|never|quit|stopp?ed|sold|left|used to|any ?more)\b|n't",
    re.IGNORECASE,
)


def share(statement: str, said: Iterable[str], known: Collection[str] = ()) -> float:
    """Share of what a statement is about that stands in some texts, 0…1.

    Args:
        known: Names, which say of whom it is and not what.
    """
    about = content(_DATE.sub(" ", statement))
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

    It is the subject's own if some of it stands in their cited messages, and no more in what
    anybody else says: who words it in full is who says it.

    Args:
        around: What was said meanwhile and before, as far as the model was shown it.
        known: Names of people.
    """
    told, heard = (_by_sender(messages) for messages in (evidence, around))
    own = share(statement, told.pop(subject, ()), known)
    heard.pop(subject, None)
    rival = max((share(statement, said, known) for said in heard.values()), default=0.0)
    if own > 0 and own >= rival:
        return subject
    shares = {sender: share(statement, said, known) for sender, said in told.items()}
    other = max(shares, key=lambda sender: shares[sender], default="")
    return other if other and shares[other] > 0 else ""


def vouches(
    statement: str, subject: str, evidence: Iterable[Message], known: Collection[str] = ()
) -> bool:
    """Whether its subject says again most of a statement that somebody else made."""
    said = [message.text for message in evidence if message.sender == subject]
    return share(statement, said, known) >= MOST


def bearing(statement: str, cited: Sequence[Message], known: Collection[str] = ()) -> list[Message]:
    """The cited messages that a statement rests on; a model may cite too many.

    These are those that say of it half as much as one does, assents, and requests to keep it;
    all if none says any of it, as when a model writes in another language.

    Args:
        known: Names of people.
    """
    shares = {message.id: share(statement, [message.text], known) for message in cited}
    least = max(shares.values(), default=0.0) / 2
    if not least:
        return list(cited)
    return [
        each
        for each in cited
        if shares[each.id] >= least or not content(each.text) or asks_to_keep(each.text)
    ]


def ends(statement: str, message: Message, before: str, known: Collection[str] = ()) -> bool:
    """Whether a message is about a statement, or says that what was just said is over.

    Args:
        before: What was said right before it.
        known: Names of whom the statement is about.
    """
    said = [message.text, before] if _OVER.search(message.text) else [message.text]
    return share(statement, said, known) > 0


def _by_sender(messages: Iterable[Message]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        told[message.sender].append(message.text)
    return told
