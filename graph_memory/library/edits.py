"""Edits of facts: forgetting, correcting and the owner's acts.

What a row states is never altered: a forgotten fact is dropped and can be brought back, a
corrected one is replaced. Each act is one draft, so that one undo takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from operator import attrgetter
from typing import Literal

from ..dates import day_over
from ..errors import NotFoundError, UnclearError
from ..identity import Identities
from ..model import (
    DERIVED,
    SINGLE_VALUED,
    Basis,
    Entity,
    EntityType,
    Episode,
    Fact,
    Forgotten,
    Link,
    Mention,
    Message,
    Name,
    Row,
    Session,
    Status,
    Turn,
    User,
    is_entity,
    registered,
    stable_id,
)
from ..privacy.redaction import redacted
from ..privacy.scope import in_confidence
from ..retention import initial_half_life, told_anew
from ..store import Draft, Rows
from ..store.rows import unsaid
from ..text import clean_name, content, normalise, one_line, told_by
from ..visible_rows import VisibleRows

MAX_STATEMENT = 300
"""Characters of a statement."""
MOST = 0.8
"""Share of what goes that a row has to say to go with it."""
_PREDICATE = re.compile(
    r"[在住放叫姓是对對养養有去到属屬用归歸](?![于於是的了])|(?:in|at|on|is|are|has) "
)
"""What a statement begins with that leaves out whom or what it is about."""
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*")
_ELSE = "不没沒别別未现現正实實存所还還但就只"
"""Characters after which it is another word, or says the opposite."""
MAX_TOPIC = 32
"""Characters of the name of a topic that is no thing of its own."""


def correcting(
    visible: VisibleRows, id: str, words: str, turn: Turn, told: Message, now: float, zone: tzinfo
) -> Draft:
    """The draft that says how it is, beside what others said and instead of own words.

    The new fact belongs to the Session it is said in. The asker's rows of other Sessions that say
    the same are replaced as well; only in *this* one are the messages they rest on not recalled
    any more: others are of people, too, who may not see the new one.

    Raises:
        NotFoundError: It is not the asker's to correct.
    """
    rows, here, at = visible.rows, told.session, told.at
    own, name = turn.asker.accounts, clean_name(turn.name)
    old = visible.own(id, as_object=True)
    if not _may_correct(old, own):
        raise NotFoundError(f"there is no fact {id} that you could correct")
    words = completed(worded(words, MAX_STATEMENT), old.statement)
    said = told_by(name * (old.subject in own), words, MAX_STATEMENT)
    if said == old.statement and old.speaker in own:
        raise NotFoundError(f"{id} says so").told("said_so", statement=words)
    same = [fact for fact in [old, *_same(visible, old)] if fact.speaker in own]
    nodes: list[Row] = [User(turn.user), *_called(rows, here, turn.user, name, at)]
    is_named = _is_named(filter(visible.shows, rows.find(Name, a=old.object)), said)
    until = _until(visible, old, words, at, zone)
    is_dated = old.valid_to is not None or (old.valid_from or 0.0) > at  # past, or to come
    new = replace(
        told_anew(old, turn.user, at, now),
        id=stable_id("f", here, old.id, "corrected", str(told.id)),
        session=here,
        object=old.object if is_named else old.subject,
        statement=said,
        keywords="",
        valid_from=old.valid_from if is_dated else at,
        precision=old.precision if is_dated else "",
        valid_to=until,
        expires=old.expires and (until if old.expires == old.valid_to else old.expires),
        awaits=(),
        due=moved(old.due, old, words, at, zone),
        hearsay=old.hearsay and old.subject not in own,
        supersedes=tuple(fact.id for fact in same),
        evidence=(told.id,),
        confidential=old.confidential or in_confidence(told),
    )
    muted = dict.fromkeys(m for fact in same if fact.session == here for m in fact.evidence)
    mine = [m for m in muted if (one := rows.message(m)) and one.sender in own]
    draft = Draft(turn.user, "correct" if same else "object", put=[*nodes, new])
    mute(rows, draft, here, [m for m in mine if m != told.id], same, new)
    for fact in same:  # what is nobody else's to see, nor to keep, says it in other chats, too
        there = rows.get(Session, fact.session)
        if fact.session != here and not new.confidential and there and there.owner in own:
            _follow(rows, draft, fact.session, set(fact.evidence), [fact], new)
    return draft


def mute(
    rows: Rows,
    draft: Draft,
    session: str,
    messages: Iterable[int],
    gone: Iterable[Fact] = (),
    corrected: Fact | None = None,
) -> None:
    """Enter that messages are not recalled any more, with what rests on each of them.

    Args:
        gone: The facts because of which they are not.
        corrected: What is right instead.
    """
    ids = set(messages)
    draft.put += unsaid(rows, session, sorted(ids))
    _follow(rows, draft, session, ids, gone, corrected)


def _follow(
    rows: Rows,
    draft: Draft,
    session: str,
    messages: set[int],
    gone: Iterable[Fact],
    corrected: Fact | None,
) -> None:
    """Enter what becomes of rows that rest on messages with facts that go.

    What tells rather of another fact that rests on the same message stays.
    """
    going = list(gone)
    _let_derived_go(rows, draft, session, going or list(filter(None, map(rows.message, messages))))
    ids = {fact.id for fact in going}
    kinds = [kind for kind in registered() if kind.basis is Basis.EACH]
    found = [row for kind in kinds for row in rows.find(kind, session=session)]
    resting = [row for row in found if not messages.isdisjoint(row.cited)]
    # All facts of the Session are read only where there is something to tell apart.
    facts = rows.find(Fact, session=session) if resting else []
    others = [fact for fact in facts if fact.id not in ids]
    for row in resting:
        beside = [fact for fact in others if not set(row.cited).isdisjoint(fact.evidence)]
        if _shared(row, beside) > _shared(row, going):
            continue
        better = None
        if corrected and messages.issuperset(row.cited):
            cited = corrected.evidence if corrected.session == session else row.cited
            better = row.reworded(corrected.statement, cited, corrected.said_at)
        if better:
            draft.put.append(better)
        else:
            draft.drop.append((row.kind, row.id))


def _let_derived_go(rows: Rows, draft: Draft, session: str, gone: Sequence[Fact | Message]) -> None:
    """Enter what becomes of rows that name no messages, where they say what goes."""
    told = [each.text if isinstance(each, Message) else each.statement for each in gone]
    people = {each.sender if isinstance(each, Message) else each.subject for each in gone}
    names = {word for p in people for n in rows.find(Name, a=p) for word in content(n.text)}
    about = [words - names or words for words in map(content, told)]

    def says(text: str) -> bool:
        said = content(text)
        return any(words and len(words & said) >= MOST * len(words) for words in about)

    linked = Identities(rows.scan(Link))
    own = {account for person in people for account in linked.accounts(person)}
    for cls in (cls for cls in registered() if cls.basis in DERIVED and cls.words):
        found = {row.id: row for row in rows.find(cls, session=session)}
        if cls.keys == ("user",):  # it is of a person, whatever they wrote from
            found |= {row.id: row for account in own for row in rows.find(cls, a=account)}
        for row in found.values():
            fields = [field for field in cls.words if says(getattr(row, field))]
            if fields and cls.basis is Basis.LEARNED:
                draft.put.append(replace(row, **dict.fromkeys(fields, "")))
            elif fields:
                draft.drop.append((cls.kind, row.id))


def _shared(row: Row, facts: Iterable[Fact]) -> int:
    """How much of what a row says one of some facts says as well."""
    said = content(str(getattr(row, row.words[0]))) if row.words else set[str]()
    return max((len(said & content(fact.statement)) for fact in facts), default=0)


def completed(words: str, old: str) -> str:
    """New words, with what stands in the old ones before that which both begin with.

    在玄关 corrects 钥匙在鞋柜里 to 钥匙在玄关: what has no subject has that of what it corrects.
    A number takes the place of the only one.
    """
    if _NUMBER.fullmatch(words) and len(_NUMBER.findall(old)) == 1:
        return _NUMBER.sub(words, old)
    begin = _PREDICATE.match(words)
    same = begin and re.search(rf"(?<![{_ELSE}])(?<!not )(?<!n't )(?<![A-Za-z]){begin[0]}", old)
    return old[: same.start()] + words if same else words


def moved(end: float | None, old: Fact, words: str, now: float, zone: tzinfo) -> float | None:
    """An end that a fact has, if any, or another day's if new words name another one."""
    before, named = (day_over(each, now, zone) for each in (old.statement, words))
    return named if end and named not in (None, before) else end


def worded(words: str, limit: int) -> str:
    """Words of somebody as a row or an answer says them, masked before they are cut."""
    return one_line(redacted(words), limit)


def _may_correct(fact: Fact, own: frozenset[str]) -> bool:
    """What people say about themselves is replaced by nobody else's word."""
    return fact.subject in own or fact.speaker != fact.subject


def _same(visible: VisibleRows, fact: Fact) -> list[Fact]:
    """The other visible rows that say the same, in whichever Session."""
    norm = normalise(fact.statement)
    return [
        other
        for other in visible.rows.find(Fact, a=fact.subject, b=fact.object)
        if other.id != fact.id
        and other.predicate == fact.predicate
        and (normalise(other.statement) == norm or fact.predicate in SINGLE_VALUED)
        and visible.shows(other)
    ]


def _until(visible: VisibleRows, fact: Fact, words: str, now: float, zone: tzinfo) -> float | None:
    """Until when a correction holds: what is over is corrected as the past."""
    if fact.valid_to is not None:
        is_over = fact.valid_to <= now
        return fact.valid_to if is_over else moved(fact.valid_to, fact, words, now, zone)
    newer = filter(visible.shows, visible.rows.replacing(fact.id))
    starts = (each.said_at if each.valid_from is None else each.valid_from for each in newer)
    return min(starts, default=None)


def _is_named(names: Iterable[Name], text: str) -> bool:
    """Whether one of some names occurs in a text."""
    norm = normalise(text)
    return any(name.norm and name.norm in norm for name in names)


def _called(rows: Rows, session: str, node: str, text: str, at: float) -> list[Row]:
    norm = normalise(text)
    id = Name.key(session, node, norm)
    if not norm or rows.get(Name, id):
        return []
    return [Name(id, session, node, text, norm, at, at)]


def _introduced(rows: Rows, session: str, node: str, name: str, at: float) -> list[Row]:
    """The rows by which a Session knows a node from now on."""
    made = _called(rows, session, node, name, at)
    known = rows.find(Mention, a=node)
    if is_entity(node) and session not in {each.session for each in known}:
        type = max(known, key=lambda each: each.last_at).type if known else EntityType.TOPIC.value
        made.append(Mention(Mention.key(session, node), session, node, type, at, at))
    return made


# --------------------------------------------------------------------- the owner

OWNER = "owner"
"""Actor of changes made with the web UI's key, and speaker of what is told there."""
NEW = "new"
"""Stands for a person or thing that is not known yet."""
Action = Literal["pin", "unpin", "archive", "restore", "important", "minor", "relate", "forget"]
WEIGHTS = {"important": 0.9, "minor": 0.2}
"""Importance that an act gives."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What an act would do.

    Attributes:
        facts: Facts that would change; the others are ``left`` as they are.
        messages: Messages that would not be recalled any more.
        summaries: Summaries of conversations that would be lost.
    """

    facts: int
    left: int
    messages: int
    summaries: int


def handling(
    rows: Rows,
    action: Action,
    ids: Iterable[str],
    actor: str,
    now: float,
    relation: str = "",
) -> Draft:
    """The draft that does one thing with some facts, as the owner may.

    What is forgotten goes with all that it replaced, or that would be true again.

    Args:
        relation: The predicate that facts are to have (``relate``).
    """
    facts = [fact for id in dict.fromkeys(ids) if (fact := rows.get(Fact, id))]
    if action == "forget":
        return forgetting(rows, with_earlier(rows, facts, None), Draft(actor, action))
    if action == "relate":
        wanted = Amendment("", relation)
        parts = (
            amending(rows, fact, wanted, actor, now, is_muted=False)
            for fact in _standing(rows, facts)
        )
        return Draft(actor, action, put=[row for part in parts for row in part.put])
    return Draft(actor, action, put=[_handled(fact, action, now) for fact in facts])


def forgetting(
    rows: Rows,
    facts: Sequence[Fact],
    draft: Draft,
    asker: VisibleRows | None = None,
    messages: Iterable[Message] = (),
) -> Draft:
    """A draft that forgets facts and messages, those that facts rest on included.

    Args:
        asker: Who forgets, of messages only their own; ``None`` is the owner.
    """
    draft.drop += [(Fact.kind, fact.id) for fact in facts]
    _let_names_go(rows, facts, draft, asker)
    told: dict[str, dict[int, None]] = {}  # so that each Session is looked through once
    for said in messages:
        told.setdefault(said.session, {})[said.id] = None
    for fact in facts:
        told.setdefault(fact.session, {}).update(dict.fromkeys(fact.evidence))
    for session, cited in told.items():
        mute(rows, draft, session, (m for m in cited if _is_theirs(rows, m, asker)), facts)
    return draft


def with_earlier(rows: Rows, facts: list[Fact], asker: VisibleRows | None) -> list[Fact]:
    """Some facts, and what they replaced, as far as that is the asker's to forget."""
    found = {fact.id: fact for fact in facts}
    waiting = list(facts)
    while waiting:
        for id in waiting.pop().supersedes:
            with suppress(NotFoundError):
                old = rows.get(Fact, id) if asker is None else asker.own(id)
                if old and id not in found:
                    found[id] = old
                    waiting.append(old)
    return list(found.values())


def _let_names_go(
    rows: Rows, gone: Sequence[Fact], draft: Draft, asker: VisibleRows | None
) -> None:
    """Drop names and mentions of things of which nothing else is known there.

    Where only others know more, they are as it is: or what the asker may not see could be felt.
    """
    ids = {fact.id for fact in gone}
    places = {(fact.session, node) for fact in gone for node in (fact.subject, fact.object)}
    for session, node in sorted(place for place in places if is_entity(place[1])):
        left = [f for f in rows.about(node) if f.session == session and f.id not in ids]
        if any(asker is None or asker.shows(fact) for fact in left):
            continue
        called: list[Name | Mention] = [*rows.find(Name, session=session, a=node)]
        called += rows.find(Mention, session=session, a=node)
        if left:
            first = min(left, key=attrgetter("confidential", "said_at"))
            at, is_kept = first.said_at, first.confidential
            draft.put += [replace(row, first_at=at, confidential=is_kept) for row in called]
        else:
            draft.drop += [(row.kind, row.id) for row in called]


def _standing(rows: Rows, facts: Iterable[Fact]) -> list[Fact]:
    """Those facts that are in use and that no other replaces."""
    active = (fact for fact in facts if fact.status == Status.ACTIVE)
    return [fact for fact in active if not rows.replacing(fact.id)]


def _is_theirs(rows: Rows, message: int, asker: VisibleRows | None) -> bool:
    said = rows.message(message)
    return said is not None and (asker is None or said.sender in asker.asker.accounts)


def _handled(fact: Fact, action: Action, now: float) -> Fact:
    match action:
        case "pin" | "unpin":
            return replace(fact, pinned=action == "pin")
        case "important" | "minor":
            return _weighed(fact, WEIGHTS[action])
        case "archive" if fact.status == Status.ACTIVE:
            return replace(fact, status=Status.ARCHIVED.value, archived_at=now)
        case "restore" if fact.status == Status.ARCHIVED:
            return replace(fact, status=Status.ACTIVE.value, archived_at=None, last_used=now)
        case _:
            return fact


def effect(rows: Rows, action: Action, ids: Iterable[str], now: float) -> Effect:
    """What :func:`handling` would change."""
    wanted = set(ids)
    if action == "relate":  # which relation is not known yet
        facts = len(_standing(rows, rows.some(Fact, wanted)))
        return Effect(facts, len(wanted) - facts, 0, 0)
    draft = handling(rows, action, wanted, "", now)
    changed = [row for row in draft.put if rows.get(type(row), row.id) != row]
    facts = sum(kind == Fact.kind for kind, _ in draft.drop)
    facts += sum(isinstance(row, Fact) for row in changed)
    return Effect(
        facts,
        len(wanted) - facts,
        sum(isinstance(row, Forgotten) for row in changed),
        sum(isinstance(row, Episode) for row in changed),
    )


@dataclass(frozen=True, slots=True)
class Meant:
    """Somebody or something by a name, which may be that of several.

    Attributes:
        node: Which of them; :data:`NEW` for none of those that are known. Empty: who is
            called so in that chat, or something new if nobody is called so anywhere.
    """

    name: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class Amendment:
    """What a fact is to state; ``None``, or empty: as it does.

    Attributes:
        subject: Whom or what it is about.
        object: The other person or thing; with an empty name for none.
        hearsay: Whether the speaker had it from others.
        due: By when it is to be done.
        period: From when and until when it is true.
        expires: When it is to be forgotten, if ever.
    """

    statement: str
    predicate: str = ""
    object: Meant | None = None
    period: tuple[float | None, float | None] | None = None
    importance: float | None = None
    expires: tuple[float | None] | None = None
    subject: Meant | None = None
    hearsay: bool | None = None
    due: float | None = None


def version(fact: Fact, replaced_by: Iterable[str]) -> str:
    """What a fact states and what replaces it, as a short text to compare."""
    period, importance = (fact.valid_from, fact.valid_to), f"{fact.importance:.2f}"
    stated = (fact.statement, fact.predicate, fact.object, str(period), importance)
    more = [str(each) for each in (fact.expires, fact.hearsay) if each]
    return stable_id("v", fact.id, fact.status, *stated, *more, *sorted(replaced_by))


def amending(
    rows: Rows, old: Fact, wanted: Amendment, actor: str, now: float, *, is_muted: bool
) -> Draft:
    """The draft that replaces what a fact states, or alters how important it is.

    The new one has the old one's place in everything (Session, time, evidence, what has replaced
    it since), so it is seen, and taken back, as that would be. If it is about somebody else, the
    old one is archived: who may not see the new one is not to go on believing it, and what
    replaced it was about another, as is what it was to replace.

    Raises:
        UnclearError: A name may mean several, or it is one of an account that is not named.
    """
    draft = Draft(actor, "amend")
    subject, put = _other_subject(rows, old, wanted.subject)
    object, made = _other_object(rows, old, wanted, subject)
    said, is_moved = _restated(rows, old, wanted), subject != old.subject
    begin, end = (old.valid_from, old.valid_to) if wanted.period is None else wanted.period
    new = replace(
        _weighed(old, wanted.importance),
        expires=wanted.expires[0] if wanted.expires else old.expires,
        hearsay=old.hearsay if wanted.hearsay is None else wanted.hearsay,
        subject=subject,
        predicate=wanted.predicate or old.predicate,
        object=object,
        statement=said,
        keywords=old.keywords if said == old.statement else "",
        valid_from=begin,
        valid_to=end,
        precision=old.precision if begin == old.valid_from else "",
        due=wanted.due or old.due,
        awaits=() if is_moved else old.awaits,
    )
    same = replace(new, importance=old.importance, half_life=old.half_life)
    if replace(same, expires=old.expires, hearsay=old.hearsay) == old:
        draft.put += [new] if new != old else []
        return draft
    stated = (said, new.predicate, object, str(begin), str(end), *([subject] if is_moved else []))
    new = replace(
        new,
        id=stable_id("f", old.session, old.id, "amended", *stated),
        recorded_at=now,
        last_used=now,
        status=Status.ACTIVE.value,
        archived_at=None,
        supersedes=(old.id,),
        corrects=False,
    )
    past = _handled(old, "archive", now) if is_moved else old
    draft.put += [*put, *made, new, replace(past, pinned=False)]
    draft.put += [
        replace(fact, supersedes=(*fact.supersedes, new.id))
        for fact in ([] if is_moved else rows.replacing(old.id))
        if fact.id != new.id and new.id not in fact.supersedes
    ]
    if is_muted:
        draft.put += unsaid(rows, old.session, old.evidence)
    if is_moved or is_muted or said != old.statement:
        _follow(rows, draft, old.session, set(old.evidence), [old], new)
    return draft


def _weighed(fact: Fact, importance: float | None) -> Fact:
    """A fact of another importance, which fades as much slower or faster."""
    if importance is None or abs(importance - fact.importance) < 0.005:
        return fact
    ratio = initial_half_life(importance) / initial_half_life(fact.importance)
    return replace(fact, importance=importance, half_life=fact.half_life * ratio)


def _other_subject(rows: Rows, old: Fact, meant: Meant | None) -> tuple[str, list[Row]]:
    """Whom a fact is to be about: the same node as before if it is one with it."""
    if meant is None:
        return old.subject, []
    node, made = _subject(rows, old.session, meant, old.said_at)
    return (old.subject, []) if rows.identities().is_one(node, old.subject) else (node, made)


def _subject(rows: Rows, session: str, meant: Meant, at: float) -> tuple[str, list[Row]]:
    """As :func:`_named`, but that an account is to be chosen."""
    node, made = _named(rows, session, meant, at)
    if not (meant.node or is_entity(node)):
        raise UnclearError("people bear whatever name they like: which account is to be said")
    return node, made


def _other_object(rows: Rows, old: Fact, wanted: Amendment, subject: str) -> tuple[str, list[Row]]:
    """What else a fact is to be about; the subject if nothing is named."""
    names = rows.find(Name, a=old.object)
    said = worded(wanted.statement, MAX_STATEMENT) or old.statement
    is_unsaid = _is_named(names, old.statement) and not _is_named(names, said)
    is_gone = is_unsaid or old.object == old.subject
    if wanted.object is None:
        return (subject if is_gone else old.object), []
    if not worded(wanted.object.name, MAX_TOPIC):
        return subject, []
    if _is_another(rows, old.object, wanted.object):
        return _named(rows, old.session, wanted.object, old.said_at)
    return old.object, []


def _is_another(rows: Rows, node: str, meant: Meant | None) -> bool:
    """Whether a node is not what is meant by a name."""
    if meant is None or not (name := worded(meant.name, MAX_TOPIC)):
        return False
    return meant.node not in ("", node) or not _is_called(rows.find(Name, a=node), name)


def _restated(rows: Rows, old: Fact, wanted: Amendment) -> str:
    """What a fact is to say: the old words with new names, if no others are given."""
    said = worded(wanted.statement, MAX_STATEMENT) or old.statement
    if said != old.statement:
        return said
    for node, meant in ((old.subject, wanted.subject), (old.object, wanted.object)):
        if meant and _is_another(rows, node, meant):
            said = _reworded(said, rows.find(Name, a=node), meant.name)
    return said


def _reworded(said: str, names: Iterable[Name], name: str) -> str:
    """A statement with another name in place of the longest of some names that it has."""
    known = sorted((each.text for each in names if each.text in said), key=len)
    new = worded(name, MAX_TOPIC)
    return one_line(said.replace(known[-1], new), MAX_STATEMENT) if known else said


def _is_called(names: Iterable[Name], name: str) -> bool:
    return normalise(name) in {each.norm for each in names}


def _named(rows: Rows, session: str, meant: Meant, at: float) -> tuple[str, list[Row]]:
    """The node that is meant, with the rows by which the Session knows it from now on.

    Raises:
        UnclearError: Several there are called so, or only others elsewhere, or the one
            that was chosen is not.
    """
    name = worded(meant.name, MAX_TOPIC)
    norm, one = normalise(name), rows.identities()
    if meant.node in ("", NEW):
        bearers = rows.find(Name, b=norm)
        here = {one.canonical(row.node) for row in bearers if row.session == session}
        if not meant.node and len(here) == 1:
            return here.pop(), []
        if not meant.node and bearers:
            raise UnclearError("a name may mean several")
        node = stable_id("e", session if bearers else "", norm)
        return node, [Entity(node), *_introduced(rows, session, node, name, at)]
    node = one.canonical(meant.node)
    names = [row for each in one.nodes(node) for row in rows.find(Name, a=each)]
    is_number = not is_entity(node) and meant.name.strip() in node
    if not (is_number or any(norm in row.norm for row in names)):
        raise UnclearError("a name may mean several")
    is_known = any(row.session == session for row in names)
    own = name if _is_called(names, name) else rows.called(*one.nodes(node))
    return node, [] if is_known else _introduced(rows, session, node, own, at)


def telling(rows: Rows, session: str, subject: Meant, wanted: Amendment, now: float) -> Draft:
    """The draft of a fact that the owner tells about somebody in a Session.

    Raises:
        NotFoundError: There is no such Session.
        UnclearError: A name may mean several, or it is one of an account that is not named.
    """
    rows.require(Session, session)
    said = worded(wanted.statement, MAX_STATEMENT)
    about, made = _subject(rows, session, subject, now)
    other = wanted.object if wanted.object and wanted.object.name.strip() else None
    object, more = _named(rows, session, other, now) if other else (about, [])
    begin, end = wanted.period or (None, None)
    importance = 0.5 if wanted.importance is None else wanted.importance
    id = stable_id("f", session, "told", about, wanted.predicate, object, said)
    if rows.get(Fact, id):
        return Draft(OWNER, "tell")
    fact = Fact(
        id=id,
        session=session,
        subject=about,
        predicate=wanted.predicate or "other",
        object=object,
        statement=said,
        speaker=OWNER,
        said_at=now,
        recorded_at=now,
        last_used=now,
        half_life=initial_half_life(importance),
        importance=importance,
        hearsay=bool(wanted.hearsay),
        valid_from=begin,
        valid_to=end,
        expires=wanted.expires[0] if wanted.expires else None,
    )
    return Draft(OWNER, "tell", put=[*made, *more, fact])
