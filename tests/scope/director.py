"""Plays a history on a real memory, step by step."""

import contextlib
from dataclasses import dataclass, field
from itertools import pairwise

from graph_memory.companion import CoreFact, CoreKind, FollowUp, InnerState, Mood, inner_id
from graph_memory.errors import BondError, ConflictError, NotFoundError
from graph_memory.learning.batching import claimer
from graph_memory.learning.extractor import readable
from graph_memory.learning.parse import EntityClaim, Extraction, FactClaim
from graph_memory.learning.prompt import ContextBuilder
from graph_memory.learning.resolver import resolve
from graph_memory.model import (
    GAP,
    PREDICATES,
    Batch,
    Entity,
    EntityType,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Row,
    Turn,
    User,
    asker_of,
    is_entity,
    stable_id,
)
from graph_memory.privacy.scope import in_confidence
from graph_memory.service import MemoryService
from graph_memory.store import Draft
from tests import makers
from tests.makers import T0, undo_last

from .histories import (
    CHATS,
    DOES,
    KEEP,
    PEOPLE,
    THINGS,
    Call,
    Feel,
    Join,
    Know,
    Learn,
    Leave,
    Manage,
    Mark,
    Pause,
    Say,
    Step,
    Sum,
)

YEAR = 365 * 86_400.0
"""Seconds."""


@dataclass
class Director:
    """Plays steps on a memory.

    Attributes:
        at: The time; grows with every message.
        obeys: Whether the model cites, as a chat may tell it, every message for every fact.
    """

    memory: MemoryService
    at: float = T0
    obeys: bool = False
    facts: list[str] = field(default_factory=list)
    said: list[Message] = field(default_factory=list)

    async def play(self, steps: list[Step]) -> None:
        """Play all steps, and learn what is left over in the end."""
        for step in steps:
            await getattr(self, f"_{type(step).__name__.lower()}")(step)
        for number in range(len(CHATS)):
            await self._learn(Learn(number, replaces=False, restates=False))

    async def _put(self, *rows: Row) -> None:
        await self.memory.journal.commit(lambda _: Draft("learn", "learned", list(rows)))

    async def _say(self, step: Say) -> None:
        self.at += step.later
        chat = CHATS[step.chat]
        if step.who < 0:
            await self.memory.learning.reply(chat, step.text, at=self.at)
            return
        who = chat.owner or PEOPLE[step.who]
        said = await self.memory.learning.hear(Turn(chat, who, step.name, step.text), at=self.at)
        if said:
            self.said.append(said)

    async def _know(self, step: Know) -> None:
        chat = CHATS[step.chat]
        nodes = [*PEOPLE, *THINGS]
        subject, object = nodes[step.subject], nodes[step.object]
        if is_entity(subject) and not is_entity(object):
            object = THINGS[step.object]
        own = [message for message in self.said if message.session == chat.id]
        cited = own[-step.cites :] if step.cites else []
        earlier = {self.facts[n % len(self.facts)] for n in step.supersedes} if self.facts else ()
        made = makers.fact(
            chat, subject, object, step.text, id=f"f:{len(self.facts)}", predicate=step.predicate,
            at=max(T0, self.at - step.ago), speaker=chat.owner or PEOPLE[step.speaker],
            supersedes=tuple(sorted(earlier)), pinned=step.pinned, importance=step.importance,
            evidence=tuple(message.id for message in cited),
            confidential=any(map(in_confidence, cited)),
        )  # fmt: skip
        self.facts.append(made.id)
        await self._put(chat, *(node_row(node) for node in (subject, object)), made)

    async def _call(self, step: Call) -> None:
        chat, node = CHATS[step.chat], [*PEOPLE, *THINGS][step.node]
        named = makers.name(chat, node, step.text, max(T0, self.at - step.ago))
        if await self.memory.journal.read(lambda rows: rows.get(Name, named.id)) is None:
            await self._put(chat, named)

    async def _mark(self, step: Mark) -> None:
        chat, thing = CHATS[step.chat], THINGS[step.thing]
        made = makers.mention(chat, thing, step.type.value, max(T0, self.at - step.ago))
        if await self.memory.journal.read(lambda rows: rows.get(Mention, made.id)) is None:
            await self._put(chat, made)

    async def _sum(self, step: Sum) -> None:
        chat = CHATS[step.chat]
        own = [message for message in self.said if message.session == chat.id][-step.length :]
        gaps = [n for n, (a, b) in enumerate(pairwise(own), 1) if abs(b.at - a.at) >= GAP]
        own = own[gaps[-1] if gaps else 0 :]  # of one talk
        if own:
            id = stable_id("ep", chat.id, step.text, str(own[0].id))
            first, last = own[0], own[-1]
            await self._put(
                chat,
                Episode(
                    id, chat.id, first.at, last.at, first.id, last.id, len(own), step.text,
                    tuple({m.sender for m in own}),
                ),
            )  # fmt: skip

    async def _feel(self, step: Feel) -> None:
        chat = CHATS[step.chat]
        who = chat.owner or PEOPLE[step.who]
        rows = await self.memory.journal.read(lambda rows: rows.find(CoreFact, session=chat.id))
        number = 1 + len([row for row in rows if row.user == who])
        own = [m.id for m in self.said if m.session == chat.id and m.sender == who]
        id = stable_id("c", chat.id, who, str(number))
        kind = CoreKind.FEELING.value
        await self._put(
            chat,
            CoreFact(
                id, chat.id, who, number, kind, step.text, self.at, self.at, False, tuple(own[-1:])
            ),
            Mood(stable_id("mo", chat.id), chat.id, step.valence, -step.valence, self.at),
            InnerState(
                inner_id(chat.id), chat.id, "我想多听听", step.text, "更近了", number, self.at
            ),
        )
        if chat.owner:
            # One is dropped once the user is back, to whichever persona; that goes by the
            # chat window on purpose. So it is meant after everything that is said here.
            id, meant = stable_id("fu", chat.id, str(number)), self.at + YEAR
            await self._put(chat, FollowUp(id, chat.id, who, meant, step.text, 0, meant))

    async def _leave(self, step: Leave) -> None:
        await self.memory.journal.leave(CHATS[step.chat].circle, PEOPLE[step.who], self.at)

    async def _pause(self, step: Pause) -> None:
        await self.memory.learning.pauses.pause("user", PEOPLE[step.who])

    async def _join(self, step: Join) -> None:
        edits = self.memory.identity_edits
        nodes = PEOPLE if step.what.endswith("link") else THINGS
        one, other = nodes[step.one % len(nodes)], nodes[step.other % len(nodes)]
        act = getattr(edits, step.what)
        with contextlib.suppress(NotFoundError, BondError):
            await (
                act(one, other, "owner") if step.what in ("merge", "link") else act(one, "owner")
            )

    async def _manage(self, step: Manage) -> None:
        library = self.memory.library
        if not self.facts:
            return
        id = self.facts[step.fact % len(self.facts)]
        fact = await self.memory.journal.read(lambda rows: rows.get(Fact, id))
        with contextlib.suppress(NotFoundError, ConflictError):
            if step.what == "forget":
                await library.forget([id], None, "owner")
            elif step.what == "own" and fact:
                session = next(chat for chat in CHATS if chat.id == fact.session)
                await library.forget([id], asker_of(session, fact.speaker), fact.speaker)
            elif step.what == "undo":
                await undo_last(library, "owner")
            elif step.what == "archive":
                await library.act("archive", [id], "owner")
            elif step.what == "restore":
                await library.act("restore", [id], "owner")

    async def _learn(self, step: Learn) -> None:
        """One batch after the other, as far as anything is buffered."""
        journal, chat = self.memory.journal, CHATS[step.chat]
        zone = self.memory.zone
        while True:
            claimed = await journal.claim(chat.id, claimer(zone))
            if claimed is None:
                return
            await self._resolve(claimed[0], step)

    async def _resolve(self, batch: Batch, step: Learn) -> None:
        context = self.memory.context

        def draft(rows):  # type: ignore[no-untyped-def]
            visible = context.learnable(rows, batch.session)
            read = readable(batch, visible)
            if not any(message.is_human for message in read.messages):
                return Draft("learn", "learned", batch=batch.id)
            known = ContextBuilder(visible, read).fill({})
            answer = extraction(read, tuple(known.facts), step.replaces, step.restates, self.obeys)
            return resolve(rows, read, answer, known, context, self.at).draft(
                "learn", "learned", batch=batch.id
            )

        change = await self.memory.journal.commit(draft)
        for op in change.ops if change else ():
            if op.kind == Fact.kind and op.id not in self.facts:
                self.facts.append(op.id)


def extraction(
    batch: Batch, known: tuple[int, ...], replaces: bool, restates: bool, obeys: bool = False
) -> Extraction:
    """What rules make of a batch: one fact of each line that the cast speaks in."""
    facts: list[FactClaim] = []
    entities: dict[str, EntityClaim] = {}
    for number, message in enumerate(batch.messages, 1):
        does = next((does for does in DOES if does in message.text), None)
        if does is None or not message.is_human:
            continue
        who, what = message.text.split(does, 1)
        for named, type in ((who, EntityType.PERSON), (what, EntityType.THING)):
            entities.setdefault(named, EntityClaim(f"E{len(entities) + 50}", named, type))
        assert DOES[does] in PREDICATES
        facts.append(FactClaim(
            "我" if number % 2 else who, DOES[does], what, message.text,
            evidence=tuple(range(1, len(batch.messages) + 1)) if obeys else (number,),
            replaces=known[:1] if replaces else (), secret=KEEP in message.text,
        ))  # fmt: skip
    return Extraction(
        summaries=("".join(message.text for message in batch.messages)[:60],),
        entities=tuple(entities.values()),
        facts=tuple(facts),
        restated=dict.fromkeys(known[-1:] if restates else (), len(batch.messages)),
        ended=dict.fromkeys(known[1:2] if replaces and restates else (), len(batch.messages)),
    )


def node_row(node: str) -> Row:
    """The row of a node, which says nothing but that it is there."""
    return Entity(node) if is_entity(node) else User(node)
