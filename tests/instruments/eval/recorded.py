"""What users get: a world is lived through, learned from and asked about.

``./dev eval --recorded`` learns with recorded answers of a language model (``cassette.py``),
``--live`` with the model that the environment names, ``--port DIR`` asks for what is missing.
Judged is the text of the block that is put before the model.
"""

import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_memory.inference import Embedder, LanguageModel
from graph_memory.model import BOT, Episode, Fact, Turn, user_id
from graph_memory.recall import Recall, RecallOptions
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.text import tokens

from .metrics import percentile
from .plain import Plain
from .world import ASKED, PLATFORM, ZONE, Question, World

MARKED = re.compile(
    r"现在不是了|日期已过|已了结|以前|曾|不再|原来|到.{4,12}为止"
    r"|former|moved from|no longer|until|used to|outdated|settled|date has passed"
)
"""Words by which a line says that it no longer holds."""
TRAPS = ("trap", "joke", "nothing")
"""Kinds of questions that want no answer; of ``nothing`` nothing was ever said."""
NONSENSE = ("joke", "irony", "lyric")
"""What tags of lines begin with from which nothing is to be learned."""


@dataclass(slots=True)
class Verdict:
    """What became of one question.

    Attributes:
        right: The answer stands in the block.
        lines, strict, lenient: How many lines there are, how many rest on a message that
            answers (a summary only if it does, too), how many of these or hold the words.
        stale: Lines that show what is over as if it still held.
        leaks: Words that must not be shown and are.
    """

    question: Question
    block: str
    right: bool
    lines: int = 0
    strict: int = 0
    lenient: int = 0
    stale: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)


class Recorded:
    """One world in one memory."""

    def __init__(
        self, world: World, model: LanguageModel | None, embedder: Embedder | None
    ) -> None:
        self._world = world
        self._model = model
        self._embedder = embedder
        self._now = world.talks[0].lines[0].at
        self._messages: dict[str, int] = {}
        self._episodes: dict[str, Episode] = {}
        self._texts: list[tuple[str, str, float, str]] = []

    async def run(self, *, plain: bool = True) -> dict[str, Any]:
        """Live through the world and ask everything, of plain retrieval, too; figures for JSON."""
        async with self.lived() as service:
            return await self._ask(service, plain=plain)

    @asynccontextmanager
    async def lived(self) -> AsyncIterator[MemoryService]:
        """The memory at the end of the world."""
        settings = Settings(language=self._world.language, recall_deadline=10_000, prune_interval=0)
        with tempfile.TemporaryDirectory() as directory:
            service = await MemoryService.open(
                Path(directory), settings, zone=ZONE, model=self._model, now=lambda: self._now
            )
            try:
                if self._embedder:
                    service.use_embedder(self._load)
                # The clock of the world goes faster than the seconds that are left to a host.
                service.learning._buffers._grace = 0.0
                await self._live(service)
                await self._pass(service, ASKED)
                await service.settle()
                await service.upkeep._step()
                yield service
            finally:
                await service.close()

    async def _load(self) -> Embedder:
        assert self._embedder
        return self._embedder

    async def _live(self, service: MemoryService) -> None:
        for talk in self._world.talks:
            await service.upkeep._step()  # as every day
            for line in talk.lines:
                await self._pass(service, line.at)
                if line.account == BOT:
                    await service.learning.reply(talk.session, line.text)
                    continue
                user = user_id(PLATFORM, line.account)
                heard = await service.learning.hear(Turn(talk.session, user, line.name, line.text))
                if heard:
                    self._messages.update(dict.fromkeys(line.tags, heard.id))
                    self._texts.append((talk.session.id, line.name, line.at, line.text))

    async def _pass(self, service: MemoryService, until: float) -> None:
        """Let time go by; what is due meanwhile is learned when it is due."""
        buffers = service.learning._buffers
        while waits := buffers.waits(self._now, time.monotonic()):
            if (wait := min(waits.values())) >= until - self._now:
                break
            self._now += max(wait, 0.0) + 1.0
            await service.recall.settle()  # what is alike depends on what is embedded
            await service.learning.settle()
        self._now = until

    async def _ask(self, service: MemoryService, *, plain: bool) -> dict[str, Any]:
        facts = {f.id: f for f in await service.journal.read(lambda rows: rows.find(Fact))}
        read = await service.journal.read(lambda rows: rows.find(Episode))
        self._episodes = {each.id: each for each in read}
        verdicts = []
        for question in self._world.questions:
            recall = await self._remind(service, question)
            verdicts.append(self._judge(question, recall, facts))
        small = await self._small_talk(service)
        found = await self._plain(verdicts) if plain else []
        jokes = frozenset(id for tag, id in self._messages.items() if tag.startswith(NONSENSE))
        return _figures(verdicts, small, found, facts.values(), jokes)

    async def rewards(self, service: MemoryService) -> list[float]:
        """By question and line of small talk: 1 if right, which is empty if there is nothing."""
        found = []
        for question in self._world.questions:
            block = (await self._remind(service, question)).block
            if question.kind == "nothing":
                found.append(float(not block))
            elif question.kind not in TRAPS:
                found.append(float(_holds(question, block)))
        return found + [float(not block) for _, block in await self._small_talk(service)]

    async def _small_talk(self, service: MemoryService) -> list[tuple[str, str]]:
        small = []
        for number, text in enumerate(self._world.small):
            asked = self._world.questions[number * 7 % len(self._world.questions)]
            recall = await self._remind(
                service, Question(text, asked.account, asked.session, "small")
            )
            small.append((text, recall.block))
        return small

    async def _remind(self, service: MemoryService, question: Question) -> Recall:
        turn = Turn(question.session, question.account, "", question.text)
        lead = await service.companion.lead(turn)
        return await service.recall.remind(
            turn.asker,
            question.text,
            RecallOptions(lead=lead.paragraphs, records=lead.records, profile=not lead.has_profile),
        )

    def _judge(self, question: Question, recall: Recall, facts: dict[str, Fact]) -> Verdict:
        gold = {self._messages[tag] for tag in question.gold if tag in self._messages}
        verdict = Verdict(question, recall.block, _holds(question, recall.block))
        words = [word for group in question.answer for word in group]
        for item in recall.items:
            is_told = any(word in item.text for word in words)
            if episode := self._episodes.get(item.id):
                first, last = episode.first_message, episode.last_message
                is_strict = is_told and any(first <= id <= last for id in gold)
            else:
                rests = facts[item.id].claimed if item.kind == "fact" else item.messages
                is_strict = not gold.isdisjoint(rests)
            verdict.lines += 1
            verdict.strict += is_strict
            verdict.lenient += is_strict or is_told
            if question.kind == "now" and any(word in item.text for word in question.stale):
                is_current = not MARKED.search(item.text)
                if is_current and not any(word in item.text for word in words):
                    verdict.stale.append(item.text)
        verdict.leaks = [word for word in question.forbid if word in recall.block]
        return verdict

    async def _plain(self, verdicts: Iterable[Verdict]) -> list[bool]:
        """Whether plain retrieval over what was said in the same Session has the answer, too,
        in as many tokens."""
        found: list[bool] = []
        indexes: dict[str, tuple[Plain, list[str]]] = {}
        for verdict in verdicts:
            question = verdict.question
            if question.kind in TRAPS:
                continue
            if question.session.id not in indexes:
                own = [(n, t) for s, n, _, t in self._texts if s == question.session.id]
                texts = [f"{name}: {text}" for name, text in own]
                vectors = await self._embedder.passages(texts) if self._embedder and texts else None
                indexes[question.session.id] = Plain(texts, vectors), texts
            plain, texts = indexes[question.session.id]
            vector = await self._embedder.query(question.text) if self._embedder else None
            room, shown = tokens(verdict.block), []
            for number in plain.rank(question.text, vector) if texts else ():
                room -= tokens(texts[number])
                if room < 0:
                    break
                shown.append(texts[number])
            found.append(_holds(question, "\n".join(shown)))
        return found


def _holds(question: Question, block: str) -> bool:
    return all(any(word in block for word in group) for group in question.answer)


def _figures(
    verdicts: list[Verdict],
    small: list[tuple[str, str]],
    plain: list[bool],
    facts: Iterable[Fact],
    nonsense: frozenset[int],
) -> dict[str, Any]:
    asked = [v for v in verdicts if v.question.kind not in TRAPS]
    kinds: dict[str, list[bool]] = defaultdict(list)
    for verdict in asked:
        kinds[verdict.question.kind].append(verdict.right)
    lines = max(1, sum(v.lines for v in asked))
    known = list(facts)
    statements = Counter(fact.statement for fact in known)
    return {
        "questions": len(asked),
        "answer_in_block": _share([v.right for v in asked]),
        "by_kind": {kind: _share(found) for kind, found in sorted(kinds.items())},
        "plain_at_equal_tokens": _share(plain),
        "strict": round(sum(v.strict for v in asked) / lines, 3),
        "lenient": round(sum(v.lenient for v in asked) / lines, 3),
        "median_tokens": percentile([tokens(v.block) for v in asked], 0.5),
        "nothing_to_find_with_anything": [
            v.question.text for v in verdicts if v.question.kind == "nothing" and v.block
        ],
        "small_talk_with_anything": sum(bool(block) for _, block in small),
        "small_talk": len(small),
        "outdated_as_current": [line for v in asked for line in v.stale],
        "leaks": [(v.question.text, v.leaks) for v in verdicts if v.leaks],
        "missed": [v.question.text for v in asked if not v.right],
        "facts": statements.total(),
        "duplicates": sum(count - 1 for count in statements.values()),
        "junk": [fact.statement for fact in known if fact.claimed and nonsense >= {*fact.claimed}],
    }


def _share(found: list[bool]) -> float:
    return round(sum(found) / max(1, len(found)), 3)
