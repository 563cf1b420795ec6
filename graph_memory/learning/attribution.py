"""Attribution of statements: in whose words they stand, and so whose they are.

The messages that a model cites for a statement prove nothing by themselves: what it states
has to stand in them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ..model import GAP, Message
from ..privacy.confidence import asks_to_keep
from ..text import content, patterns, simplified

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
(_DENIAL,) = patterns(Path(__file__).with_name("denials.txt"))
DENIES = re.compile(
    r"\W*(?:(?:[呃额啊哎诶欸嗯喂唉呀哈这那]|等等|等一下|oh|um+|uh|er|hey|wait|hm+|actually)\W*)*+"
    f"(?:{_DENIAL.pattern})",
    re.IGNORECASE,
)
"""How a message begins, in simplified characters, that says that what was just said is wrong."""
_MEANS_ELSE = re.compile(
    r"[?？吗么]\s*$|想问|问的是|意思是|[还也又]|另外|\bi (?:mean|was asking)|\b(?:also|too|another"
    r"|second|as well|besides)\b",
    re.IGNORECASE,
)
"""What one says who asks, or who adds something to what is right."""
HEARD = 3
"""Messages after a line of the bot's that may still deny it."""


def denials(messages: Iterable[Message]) -> dict[int, Message]:
    """Messages that say that the bot is wrong, by id, with the line that they mean.

    After a bare “no”, what the same person says next is the correction.
    """
    found: dict[int, Message] = {}
    line, later, bare = None, 0, ""
    for message in messages:
        if not message.is_human:
            line, later, bare = message, 0, ""
            continue
        later += 1
        if line is None or later > HEARD or message.at - line.at >= GAP:
            continue
        text = simplified(message.text)
        denied = DENIES.match(text)
        rest = text[denied.end() :] if denied else text
        if (denied or bare == message.sender) and not _MEANS_ELSE.search(rest):
            found[message.id] = line
        bare = message.sender if denied and not content(rest) else ""
    return found


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


def bearing(statement: str, cited: Sequence[Message], known: Collection[str] = ()) -> list[Message]:
    """The cited messages that a statement rests on; a model may cite too many.

    These are those that say of it half as much as one does, assents, requests to keep it, and
    what corrects the one before; all if none says any of it, as when a model writes in another
    language.

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
        if shares[each.id] >= least
        or not content(each.text)
        or asks_to_keep(each.text)
        or DENIES.match(simplified(each.text))
    ]


def corrected(
    statement: str,
    cited: Iterable[Message],
    around: Sequence[Message],
    known: Collection[str] = (),
) -> Iterator[Message]:
    """What was said about a statement right before its sender corrects it.

    Args:
        around: What was said meanwhile.
        known: Names of people.
    """
    for each in cited:
        if DENIES.match(simplified(each.text)):
            own = [m for m in around if m.sender == each.sender and m.id < each.id]
            near = (m for m in own[-HEARD:] if each.at - m.at < GAP)
            yield from (m for m in near if share(statement, [m.text], known) > 0)


def ends(statement: str, message: Message, before: str, known: Collection[str] = ()) -> bool:
    """Whether a message is about a statement, or says that what was just said is over.

    Args:
        before: What was said right before it.
        known: Names of whom the statement is about.
    """
    said = [message.text, before] if _OVER.search(simplified(message.text)) else [message.text]
    return share(statement, said, known) > 0


def _by_sender(messages: Iterable[Message]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        told[message.sender].append(message.text)
    return told
