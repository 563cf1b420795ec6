"""A conversation that is learned step by step, with a real journal and no background."""

from typing import Any, TypeVar

from graph_memory.inference import Answer
from graph_memory.learning.batching import claimer
from graph_memory.learning.parse import parse
from graph_memory.learning.prompt import ContextBuilder, PromptContext
from graph_memory.learning.resolver import resolve
from graph_memory.model import (
    BOT,
    Addressee,
    Batch,
    Change,
    Fact,
    Message,
    Quote,
    Row,
    Session,
    decode,
)
from graph_memory.privacy.scope import Attendance, Policy
from graph_memory.settings import Settings
from graph_memory.store import Journal

from ..makers import CHINA, T0, context, user
from ..scripted import answer

R = TypeVar("R", bound=Row)


class Chat:
    """What is said in one Session.

    Attributes:
        at: When the next message is said; a minute passes after each.
    """

    def __init__(
        self,
        journal: Journal,
        session: Session,
        attendance: Attendance | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.journal = journal
        self.session = session
        self.at = T0
        policy = policy or Policy()
        settings = Settings(
            memory_sharing_mode=policy.sharing.value,
            cross_persona_search=policy.cross_persona,
            audience="participants" if policy.participants_only else "everyone",
        )
        self.context = context(journal, settings, zone=CHINA, attendance=attendance)
        self.known = PromptContext()
        self.batch: Batch | None = None

    async def say(
        self,
        account: str,
        text: str,
        name: str = "",
        *,
        to: tuple[Addressee, ...] = (),
        quote: Quote | None = None,
        ref: str = "",
    ) -> Message:
        """A person, or the bot, says something."""
        sender = BOT if account == BOT else user(account)
        message = Message(0, self.session.id, sender, name or account, text, self.at, ref, to=to)
        self.at += 60
        said = await self.journal.append(message, self.session, quote)
        for presence in await self.journal.presences():
            self.context.attendance.add(presence)
        return said

    async def claim(self) -> Batch:
        claimed = await self.journal.claim(self.session.id, claimer(CHINA))
        return claimed[0]

    async def show(self) -> PromptContext:
        """Claim what was said and gather what the model is shown."""
        batch = self.batch = await self.claim()

        def look(rows):
            visible = self.context.learnable(rows, batch.session)
            return ContextBuilder(visible, batch).fill({})

        self.known = await self.journal.read(look)
        return self.known

    async def learn(self, answer: dict[str, Any]) -> Change:
        """Learn what was said; the model says ``answer``."""
        if self.batch is None:
            await self.show()
        batch, self.batch = self.batch, None
        extraction = parse(Answer("", answer))
        change = await self.journal.commit(
            lambda rows: resolve(rows, batch, extraction, self.known, self.context, self.at).draft(
                "learn", "learned", batch=batch.id
            )
        )
        assert change
        return change

    async def told(
        self, text: str, *facts: dict[str, Any], name: str = "张三", **more: Any
    ) -> Change:
        """One message, and what is learned from it; see :func:`scripted.answer`."""
        await self.say("zhang", text, name)
        return await self.learn(answer(*facts, **more))

    def number(self, statement: str) -> int:
        """The number under which a known fact is shown."""
        return next(n for n, f in self.known.facts.items() if f.statement == statement)

    async def facts(self) -> dict[str, Fact]:
        """The facts of this Session by statement (the newest of each)."""
        found = await self.rows(Fact)
        return {f.statement: f for f in sorted(found, key=lambda f: f.said_at)}

    async def rows(self, cls: type[R]) -> list[R]:
        return await self.journal.read(lambda rows: rows.find(cls, session=self.session.id))


def written(change: Change, cls: type[R]) -> list[R]:
    """The rows of a kind that a change wrote."""
    found = [decode(op.kind, op.after) for op in change.ops if op.after and op.kind == cls.kind]
    return [row for row in found if isinstance(row, cls)]
