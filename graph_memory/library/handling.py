"""What the owner does with facts, one or many: rows in, drafts out.

Each act on however many facts is one draft, so that one undo takes it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..journal import Draft, Rows
from ..journal.undoing import unsaid
from ..model import Episode, Fact, Forgotten, Name, Row, Status, stable_id
from ..text import normalise, one_line
from .amendments import MAX_STATEMENT, topic

Action = Literal["pin", "unpin", "archive", "restore", "forget"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What an act would do.

    Attributes:
        facts: Facts that would change.
        left: Facts that would stay as they are: it is done already, or they are gone.
        messages: Messages that would not be recalled any more.
        summaries: Summaries of conversations that would be lost.
    """

    facts: int
    left: int
    messages: int
    summaries: int


def handling(rows: Rows, action: Action, ids: Iterable[str], actor: str, now: float) -> Draft:
    """The draft that does one thing with some facts; what it cannot change is left out."""
    facts = [fact for id in dict.fromkeys(ids) if (fact := rows.get(Fact, id))]
    draft = Draft(actor, action)
    if action == "forget":
        draft.drop += [(Fact.kind, fact.id) for fact in facts]
        draft.put += _unsaid(rows, facts)
    else:
        draft.put += [_handled(fact, action, now) for fact in facts]
    return draft


def _handled(fact: Fact, action: Action, now: float) -> Fact:
    match action:
        case "pin" | "unpin":
            return replace(fact, pinned=action == "pin")
        case "archive" if fact.status == Status.ACTIVE:
            return replace(fact, status=Status.ARCHIVED.value, archived_at=now)
        case "restore" if fact.status == Status.ARCHIVED:
            return replace(fact, status=Status.ACTIVE.value, archived_at=None, last_used=now)
        case _:
            return fact


def _unsaid(rows: Rows, facts: Iterable[Fact]) -> list[Row]:
    """See ``amendments.unsaid``; each Session is looked through once."""
    told: dict[str, dict[int, None]] = {}
    for fact in facts:
        told.setdefault(fact.session, {}).update(dict.fromkeys(fact.evidence))
    return [row for session, ids in told.items() for row in unsaid(rows, session, ids)]


def effect(rows: Rows, action: Action, ids: Iterable[str], now: float) -> Effect:
    """What :func:`handling` would change."""
    wanted = set(ids)
    draft = handling(rows, action, wanted, "", now)
    changed = [row for row in draft.put if rows.get(type(row), row.id) != row]
    facts = len(draft.drop) + sum(isinstance(row, Fact) for row in changed)
    return Effect(
        facts,
        len(wanted) - facts,
        sum(isinstance(row, Forgotten) for row in changed),
        sum(isinstance(row, Episode) for row in changed),
    )


def amending(rows: Rows, old: Fact, words: str, actor: str, now: float, *, mute: bool) -> Draft:
    """The draft that replaces what a fact states.

    The new one has the old one's place in everything: Session, time, evidence, what has
    replaced it since. So it is seen by whom the old one was seen by, and goes when what it
    rests on is taken back.
    """
    said = one_line(words, MAX_STATEMENT)
    draft = Draft(actor, "amend")
    if not said or said == old.statement:
        return draft
    object = old.object
    made: list[Row] = []
    if _names(rows, old.object, old.statement) and not _names(rows, old.object, said):
        object, made = topic(rows, old.session, said, old.said_at)
    new = replace(
        old,
        id=stable_id("f", old.session, old.id, "amended", said),
        object=object,
        statement=said,
        recorded_at=now,
        last_used=now,
        status=Status.ACTIVE.value,
        archived_at=None,
        supersedes=(old.id,),
    )
    newer = [fact for fact in rows.history(old.subject) if old.id in fact.supersedes]
    draft.put += [*made, new, replace(old, pinned=False)]
    draft.put += [
        replace(fact, supersedes=(*fact.supersedes, new.id))
        for fact in newer
        if fact.id != new.id and new.id not in fact.supersedes
    ]
    if mute:
        draft.put += unsaid(rows, old.session, old.evidence)
    return draft


def _names(rows: Rows, node: str, text: str) -> bool:
    """Whether a text names a node."""
    norm = normalise(text)
    return any(name.norm and name.norm in norm for name in rows.find(Name, a=node))
