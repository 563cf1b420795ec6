"""A small, believable memory for the web UI's tests, and a hostile corner in it.

Everything goes through the real journal: messages, batches that were learned from them,
people, entities, facts with evidence, supersession, archive.
"""

from collections.abc import Iterator

from graph_memory.model import (
    BOT,
    Batch,
    Entity,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Participation,
    Row,
    Session,
    User,
    episode_id,
    is_entity,
    stable_id,
)
from graph_memory.retention import DAY, initial_half_life
from graph_memory.store import Draft, Journal
from graph_memory.text import normalise
from tests.makers import claim_all

from .story import MALLORY, NICKNAMES, ZHANG, Said, Talk, talks

NOW = 1_760_000_000.0  # 2025-10-09 in Asia/Shanghai


async def seed(journal: Journal, bulk: int = 0, *, with_hostile: bool = True) -> int:
    """Fill an empty journal; gives how many facts there are then.

    Args:
        bulk: So many more facts about 张三, each with an entity of its own.
    """
    story = list(talks())[: None if with_hostile else -1]
    for number in range(bulk):
        story[0].said.append(
            Said(ZHANG, "owns", f"work/藏书{number:04d}", f"张三收藏了第 {number} 本书", 700, 0.2)
        )
    for talk in story:
        batch = await _say(journal, talk)
        # What is bulk needs no line of its own.
        lines = dict(zip((s.statement for s in talk.said), batch.messages, strict=False))
        rows = list(_rows(talk, lines, batch))
        await journal.commit(
            lambda _, rows=rows, batch=batch: Draft(  # type: ignore[misc]
                "learn", "learned", put=rows, batch=batch.id
            )
        )
    return sum(len(talk.said) for talk in story)


async def _say(journal: Journal, talk: Talk) -> Batch:
    for said in talk.said[:40]:
        sender = said.speaker or (said.subject if ":" in said.subject else MALLORY)
        if talk.session.owner and sender != BOT:
            sender = talk.session.owner
        line = Message(
            0, talk.session.id, sender, NICKNAMES.get(sender, "小助手"),
            said.line or said.statement, NOW - said.days * DAY,
        )  # fmt: skip
        await journal.append(line, talk.session)
    claimed = await journal.claim(talk.session.id, claim_all)
    return claimed[0]


def node(talk: Talk, wanted: str) -> str:
    """Id of a node: users as they are, ``type/name`` as an entity."""
    if wanted == "bot":
        return stable_id("e", "bot", talk.session.persona)
    if wanted in NICKNAMES:
        return wanted
    kind, _, name = wanted.partition("/")
    return stable_id("e", kind, talk.session.circle if kind == "person" else "", normalise(name))


def _rows(talk: Talk, lines: dict[str, Message], batch: Batch) -> Iterator[Row]:
    session = talk.session
    times = [NOW - said.days * DAY for said in talk.said]
    first, last = min(times), max(times)
    seen: set[str] = set()
    for said in talk.said:
        for end in (said.subject, said.object):
            id = node(talk, end)
            if id in seen:
                continue
            seen.add(id)
            yield from _introduce(session, id, end, first, last)
        yield _fact(talk, said, lines.get(said.statement))
    people = tuple(sorted({m.sender for m in batch.messages if m.is_human}))
    for user in people:
        own = [m for m in batch.messages if m.sender == user]
        yield Participation(
            stable_id("p", session.id, user), session.id, user, first, last, len(own)
        )
    yield Episode(
        episode_id(session.id, batch.messages[0].id), session.id, first, last, batch.messages[0].id,
        batch.messages[-1].id, len(batch.messages), talk.summary, people,
    )  # fmt: skip


def _introduce(session: Session, node: str, end: str, first: float, last: float) -> Iterator[Row]:
    kind, _, name = end.partition("/")
    text = {"bot": "小助手"}.get(end) or NICKNAMES.get(node) or name
    yield Entity(node) if is_entity(node) else User(node)
    yield Name(
        stable_id("n", session.id, node, text), session.id, node, text, normalise(text), first, last
    )
    if is_entity(node):
        yield Mention(stable_id("m", session.id, node), session.id, node, kind, first, last)


def fact_id(session: Session, statement: str) -> str:
    """Id of a seeded fact."""
    return stable_id("f", session.id, statement)


def _fact(talk: Talk, said: Said, line: Message | None) -> Fact:
    session, at = talk.session, NOW - said.days * DAY
    return Fact(
        id=fact_id(session, said.statement), session=session.id, subject=node(talk, said.subject),
        predicate=said.predicate, object=node(talk, said.object), statement=said.statement,
        speaker=line.sender if line else "", said_at=at, recorded_at=at + 300, last_used=at + 300,
        half_life=initial_half_life(said.importance), importance=said.importance,
        use_count=said.times, pinned=said.pinned, valid_from=at,
        valid_to=None if said.ended is None else NOW - said.ended * DAY,
        status="archived" if said.archived else "active",
        archived_at=NOW - 5 * DAY if said.archived else None,
        supersedes=(fact_id(session, said.replaces),) if said.replaces else (),
        evidence=(line.id,) if line else (),
    )  # fmt: skip
