"""One trial of non-interference: a history, some who ask, and the memory without whatever
they may not see."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from graph_memory.inference.breaker import Breaker
from graph_memory.maintenance.summaries import SummaryWriter
from graph_memory.model import Message, Row, Session, Turn, decode, is_entity
from graph_memory.privacy.scope import Rank, span
from graph_memory.service import MemoryService
from graph_memory.settings import PARTS, Settings
from graph_memory.text import normalise
from tests.recall.hashing import HashingEmbedder

from .. import world
from ..makers import CHINA, Clock
from . import oracle
from .director import Director
from .histories import CHATS, PEOPLE, WHO, Step, histories, questions, unseen
from .oracle import FOREIGN, HIDDEN, OWN, Judge, Listener, Record, Rules
from .surfaces import Given, Surfaces, differences

JOURNAL = "journal.sqlite3"
NOBODYS = "f:there-never-was"


@dataclass(frozen=True)
class Ask:
    """Somebody asks something somewhere."""

    chat: Session
    who: str
    name: str
    text: str
    previous: str

    accounts: frozenset[str] = frozenset()

    @property
    def user(self) -> str:
        return self.chat.owner or self.who

    @property
    def caller(self) -> Turn:
        return Turn(self.chat, self.user, self.name, accounts=self.accounts)

    @property
    def listener(self) -> Listener:
        """Who hears the answer, for the oracle."""
        chat = self.chat
        return Listener(chat.circle, chat.owner == "", chat.persona, self.accounts)


@dataclass(frozen=True)
class Trial:
    """What hypothesis draws.

    Attributes:
        walks: Whether the graph is there, along which the tool walks.
    """

    steps: list[Step]
    rules: Rules
    asks: list[Ask]
    walks: bool


SPACE = frozenset(chat.circle for chat in CHATS if chat.is_group)
_chats = st.one_of(
    st.sampled_from(CHATS),
    st.sampled_from([chat for chat in CHATS if not chat.is_group]),
    st.builds(unseen, st.sampled_from(CHATS), st.just("deleted")),
)
_asks = st.builds(
    Ask, _chats, st.sampled_from(PEOPLE), st.sampled_from(WHO), questions,
    st.one_of(st.just(""), questions),
)  # fmt: skip
_rules = st.builds(
    Rules,
    st.sampled_from(["layered", "layered", "isolated", "shared"]),
    st.booleans(),
    st.sampled_from(["participants", "participants", "participants", "off"]),
    st.sampled_from([frozenset(), frozenset(), SPACE]),
)
trials = st.builds(
    Trial, histories, _rules, st.lists(_asks, min_size=2, max_size=2),
    st.sampled_from([False, False, False, True]),
)  # fmt: skip


@asynccontextmanager
async def opened(
    directory: Path, rules: Rules, clock: Clock, *, walks: bool
) -> AsyncIterator[MemoryService]:
    """A whole memory, which learns nothing by itself and tidies nothing up meanwhile."""
    space = [circle.replace(":group", "") for circle in rules.space]
    settings = Settings(
        memory_sharing_mode=rules.sharing, cross_persona_search=rules.cross_persona,
        audience=rules.audience, memory_spaces=(",".join(space),) if space else (),
        retrieval_top_k=6, recall_deadline=10_000, companion=PARTS,
    )  # fmt: skip
    async with world.opened(directory, settings, zone=CHINA, now=clock) as memory:
        await memory.learning.close()
        await memory.upkeep.close()
        if not walks:
            await memory.graph.close()
        memory.recall.use(HashingEmbedder())
        await memory.recall.settle()
        yield memory


async def sum_up(memory: MemoryService) -> None:
    """Write the summaries of periods that are over, and nothing else that is done by night."""
    breaker = Breaker("summaries")
    await SummaryWriter(memory.context, None, breaker, partial(asyncio.sleep, 0)).write()


def run(trial: Trial) -> None:
    """Play a history and compare, for each who asks; raises ``AssertionError``."""
    asyncio.run(_run(trial))


async def _run(trial: Trial) -> None:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        clock = Clock(0.0)
        async with opened(home / "full", trial.rules, clock, walks=trial.walks) as memory:
            director = Director(memory)
            clock.now = director.at
            await director.play(trial.steps)
            clock.now = director.at + 86_400.0
            await sum_up(memory)
            await memory.recall.settle()
            record = oracle.read(home / "full" / JOURNAL)
            heard: set[str] = set()  # where another's question came before, nothing goes on
            for number, drawn in enumerate(trial.asks):
                previous = "" if drawn.chat.circle in heard else drawn.previous
                heard.add(drawn.chat.circle)
                accounts = oracle.accounts_of(record, drawn.user)
                ask = replace(drawn, accounts=accounts, previous=previous)
                assert ask.accounts == memory.identities.accounts(ask.user)
                agree(memory, record, ask, trial.rules)
                alone = home / f"alone-{number}"
                alone.mkdir()
                hidden = oracle.strip(
                    home / "full" / JOURNAL, alone / JOURNAL, ask.listener, trial.rules, ask.chat.id
                )
                async with opened(alone, trial.rules, clock, walks=trial.walks) as stripped:
                    sides = [Surfaces(each, ask.caller) for each in (memory, stripped)]
                    await _compare(sides, ask, sorted(hidden)[:3], trial.rules)


async def _compare(sides: list[Surfaces], ask: Ask, hidden: list[str], rules: Rules) -> None:
    given = [await side.read(ask.text, ask.previous) for side in sides]
    record = oracle.read(sides[0].memory.directory / JOURNAL)
    check_marks(given[0], ask, record, rules)
    if record.of("merge"):  # what is learned goes to the survivor, whoever knows of it
        for each in given:
            del each["learner's rows"], each["learner's known"]
    elif _has_namesake(record, ask, rules):  # nothing is learned of one that another is called
        for each in given:
            del each["learner's rows"]
    for id in hidden:
        answers = [await side.refused(id) for side in sides]
        assert answers[0] == answers[1]
        assert answers[0] == _renamed(await sides[0].refused(NOBODYS), id)
    _equal(given)
    _equal([await side.alter(ask.text) for side in sides])


def _has_namesake(record: Record, ask: Ask, rules: Rules) -> bool:
    """Whether somebody in the chat window is called, for another persona, what the text names."""
    judge, circles = Judge(record, ask.listener, rules), {ask.chat.circle, *rules.space}
    return any(
        kind == "name"
        and not is_entity(data["node"])
        and data["session"].rsplit("#", 1)[0] in circles
        and data["norm"] in normalise(ask.text)
        and judge.row(kind, data) != OWN
        for (kind, _), data in record.rows.items()
    )


def _renamed(answers: Given, id: str) -> Given:
    return {key: answer.replace(NOBODYS, id) for key, answer in answers.items()}


def _equal(given: list[Given]) -> None:
    told = [f"{key}:\n  {full!r}\n  {alone!r}" for key, full, alone in differences(*given)]
    assert not told, "on the full and on the stripped journal\n" + "\n".join(told)


def agree(memory: MemoryService, record: Record, ask: Ask, rules: Rules) -> None:
    """Hold ``scope.py`` against the oracle, row by row: both may err on the side of
    hiding and non-interference would never tell."""
    judge = Judge(record, ask.listener, rules)
    views = memory.recall.visible(ask.caller.asker)
    standing = {Rank.OWN: OWN, Rank.FOREIGN: FOREIGN, Rank.HIDDEN: HIDDEN}

    def stands(row: Any) -> str:
        view = views.get(row.session)
        return standing[view.rank(*span(row))] if view else HIDDEN

    for (kind, id), data in record.rows.items():
        if kind in oracle.SCOPED and kind != "forgotten":
            row: Row = decode(kind, data)
            assert stands(row) == judge.row(kind, data), f"{kind} {id}"
    for id, data in record.messages.items():
        said = Message(id, data["session"], data["sender"], "", data["text"], data["at"])
        said = replace(said, confided=bool(data["confided"]))
        if said.is_human:  # a line of the bot is shown with what it answers
            assert stands(said) == judge.message(data), f"message {id}"


def check_marks(given: dict[str, Any], ask: Ask, record: Record, rules: Rules) -> None:
    """Everything that recall shows may be seen, and what is another persona's says so."""
    judge = Judge(record, ask.listener, rules)
    for kind, id, text, *_, foreign, _messages in given["remind"] + given["search"]:
        stand = (
            judge.message(record.messages[int(id)])
            if kind == "message"
            else judge.row(kind, record.rows[kind, id])
        )
        assert stand == (FOREIGN if foreign else OWN), f"{kind} {id}: {text}"
        assert ("另一个人格的记忆" in text or "another persona's memory" in text) == foreign
