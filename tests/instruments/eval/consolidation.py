"""What becomes of facts that are told again and again.

Every conversation goes through the product's own learning, a batch for each episode, with
a model that is made of rules (``rules.py``). The questions' evidence says afterwards which
messages state the same thing (a *slot*); it is not shown to the rules. A message that is in
several slots counts for the smallest, which says most exactly what it states: every line
that calls somebody by name is in the slot of that name, too. Where the rules recognise of
two messages which property they tell and it is not the same, they are two things still; and a
message is what a fact states only if it may be by the same token: learning notes for what
is said again the message with the most words in common, which can be its neighbour.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations, permutations

from graph_memory.learning import Learning
from graph_memory.model import Fact, Status, asker_of
from graph_memory.ports import Embedder
from graph_memory.recall import Recaller
from graph_memory.scope import Attendance
from graph_memory.settings import Settings
from graph_memory.store import Journal, Rows
from graph_memory.turn import Turn
from tests.makers import all_changes, context

from .claims import Claim, claimed, may_be_same
from .corpus import OWNER, Corpus, Person
from .rules import RuleModel
from .synonyms import Synonyms
from .trial import Progress, nobody, private_chat, sender

END = "。！!"
FOUND = 10
"""Items of a search among which a slot has to be found."""

Slot = frozenset[str]


@dataclass(slots=True)
class Consolidated:
    """What was counted, over all viewers (one person each).

    Attributes:
        facts: Live facts: in use, neither ended nor replaced.
        stating: Those that state a slot.
        sharing: Those of them whose slot another live fact states as well.
        surplus: The same without one fact of each such group.
        unseen: Those in a group of which a fact was noted while none of the others was
            before the rules' eyes: what the product did not offer.
        recognisable: Those in a group of which the rules would have seen that it is one
            thing, had they been shown it; the others are their blindness.
        mixed: Those that state two slots which have no message in common: as duplicates
            become fewer these must not become more, or different things were merged; or
            one thing is in two slots, each of which lists some of what states it.
        confused: Those of them whose two slots are asked for by one question, as two things.
        slots: Distinct slots.
        retrievable: Slots that a question in their own words finds, by a live fact or by a
            message that one rests on.
        by_fact, at_all: The same by live facts only; by any message that states it, too.
        lost: Some of those that are not found: the words that were searched.
        alike: Some pairs of statements that state the same slot.
    """

    messages: int = 0
    calls: int = 0
    facts: int = 0
    stating: int = 0
    sharing: int = 0
    surplus: int = 0
    unseen: int = 0
    mixed: int = 0
    confused: int = 0
    recognisable: int = 0
    slots: int = 0
    retrievable: int = 0
    by_fact: int = 0
    at_all: int = 0
    lost: list[str] = field(default_factory=list)
    alike: list[tuple[str, ...]] = field(default_factory=list)

    def summary(self) -> dict[str, object]:
        """JSON-ready figures."""
        return {
            "messages": self.messages,
            "calls": self.calls,
            "facts": self.facts,
            "facts_stating_a_slot": self.stating,
            "duplicates": round(self.sharing / max(1, self.stating), 4),
            "surplus": round(self.surplus / max(1, self.stating), 4),
            "unseen": round(self.unseen / max(1, self.stating), 4),
            "mixed": round(self.mixed / max(1, self.stating), 4),
            "confused": round(self.confused / max(1, self.stating), 4),
            "recognisable": round(self.recognisable / max(1, self.stating), 4),
            "slots": self.slots,
            "retrievable": round(self.retrievable / max(1, self.slots), 4),
            "retrievable_at_all": round(self.at_all / max(1, self.slots), 4),
            "retrievable_by_fact": round(self.by_fact / max(1, self.slots), 4),
        }


class Consolidation:
    """A corpus that is learned, each of its people in a private chat of their own."""

    def __init__(self, corpus: Corpus, journal: Journal, embedder: Embedder | None) -> None:
        self._corpus = corpus
        self._journal = journal
        self._embedder = embedder
        self._model = RuleModel(Synonyms(embedder) if embedder else None)
        self._messages: dict[int, str] = {}
        self._at = 0.0

    def _now(self) -> float:
        """The time of the conversation that is being learned."""
        return self._at

    async def run(self, progress: Progress = nobody) -> Consolidated:
        """Learn everything and count."""
        found = Consolidated()
        people = self._corpus.people
        settings = Settings(retrieval_top_k=FOUND, recall_deadline=10_000)
        attendance = Attendance()
        shared = context(self._journal, settings, now=self._now, attendance=attendance)
        recaller = Recaller(shared)
        learning = Learning(shared, self._model)
        self._journal.listen(recaller.on_event)
        await recaller.start()
        await learning.start()
        try:
            for number, (owner, person) in enumerate(people.items()):
                await self._learn(learning, owner, person)
                progress("learning", number + 1, len(people))
            if self._embedder:
                recaller.use(self._embedder)
            await recaller.settle()
            for number, owner in enumerate(people):
                await self._count(recaller, owner, found)
                progress("counting", number + 1, len(people))
        finally:
            await learning.close()
            await recaller.close()
        found.messages, found.calls = len(self._messages), self._model.calls
        return found

    async def _learn(self, learning: Learning, owner: str, person: Person) -> None:
        session = private_chat(owner)
        size = Settings().buffer_size_private
        for number, line in enumerate(sorted(person.lines, key=lambda line: line.at), 1):
            name = owner if line.speaker == OWNER else line.speaker
            self._at = line.at
            said = await learning.hear(
                Turn(session, sender(owner, line.speaker), name, line.text), at=line.at
            )
            if said:
                self._messages[said.id] = line.id
            if number % size == 0:  # as the product does when so many have gathered
                await learning.flush(session.circle)
        await learning.flush(session.circle)

    async def _count(self, recaller: Recaller, owner: str, found: Consolidated) -> None:
        session = private_chat(owner)
        live = await self._journal.read(lambda rows: _live(rows, session.id))
        cited = await self._cited()
        slots = self._slots(owner)
        exact = {
            id: min((s for s in slots if id in s), key=lambda s: (len(s), sorted(s)))
            for id in frozenset().union(*slots)
        }
        said = {line.id: line.text for line in self._corpus.people[owner].lines}
        stated = {
            fact.id: {
                (exact[id], claim)
                for id in cited[fact.id]
                if id in exact and may_be_same(claim := claimed(said[id]), claimed(fact.statement))
            }
            for fact in live
        }
        groups = _groups(stated)
        found.facts += len(live)
        found.stating += sum(bool(each) for each in stated.values())
        mixed = [id for id, each in stated.items() if _is_mixed({slot for slot, _ in each})]
        asked = [query.slots for query in self._corpus.queries if query.owner == owner]
        found.mixed += len(mixed)
        found.confused += sum(_is_asked_apart(cited[id], asked) for id in mixed)
        for group in groups:
            if len(group) > 1:
                found.sharing += len(group)
                found.surplus += len(group) - 1
                told = tuple(sorted(f.statement for f in live if f.id in group))
                found.alike.append(told)
                if not self._model.has_seen(owner, told):
                    found.unseen += len(group)
                again = self._model.says_again
                if any(again(claimed(a), set(), b) for a, b in permutations(told, 2)):
                    found.recognisable += len(group)
        await self._search(
            recaller, owner, slots, {fact.id: cited[fact.id] for fact in live}, found
        )

    async def _search(
        self,
        recaller: Recaller,
        owner: str,
        slots: list[Slot],
        covers: dict[str, set[str]],
        found: Consolidated,
    ) -> None:
        session = private_chat(owner)
        asker = asker_of(session, session.owner)
        said = {line.id: line for line in self._corpus.people[owner].lines}
        cited = frozenset().union(*covers.values())
        for slot in slots:
            # The shortest says it most plainly; longer ones say other things as well.
            words = min((said[id].text for id in slot), key=lambda text: (len(text), text))
            items = (await recaller.search(asker, f"{words.rstrip(END)}吗？", FOUND)).items
            by_fact = any(covers.get(i.id, set()) & slot for i in items if i.kind == "fact")
            shown = {self._messages[m] for item in items for m in item.messages}
            found.slots += 1
            found.by_fact += by_fact
            found.at_all += by_fact or bool(shown & slot)
            if by_fact or shown & slot & cited:
                found.retrievable += 1
            else:
                found.lost.append(words)

    async def _cited(self) -> dict[str, set[str]]:
        """The messages that each fact ever rested on: a row names a few of them only."""
        found: dict[str, set[str]] = defaultdict(set)
        changes = await all_changes(self._journal)
        for op in (op for change in changes for op in change.ops):
            if op.kind == Fact.kind and op.after:
                found[op.id] |= {self._messages[id] for id in op.after["evidence"]}
        return found

    def _slots(self, owner: str) -> list[Slot]:
        own = {line.id for line in self._corpus.people[owner].lines}
        distinct = {
            slot for query in self._corpus.queries if query.owner == owner for slot in query.slots
        }
        return sorted((slot for slot in distinct if slot <= own), key=sorted)


def _groups(stated: dict[str, set[tuple[Slot, Claim]]]) -> list[set[str]]:
    """Facts that state the same, by id: one slot and, as far as that is known of both, the
    same property of the same person (where somebody works says in which town, too)."""
    groups: list[set[str]] = []
    for id, each in stated.items():
        same = {
            other
            for other, theirs in stated.items()
            for slot, their in theirs
            for own_slot, own in each
            if slot == own_slot and may_be_same(own, their)
        }
        touched = [group for group in groups if group & same]
        groups = [group for group in groups if group not in touched]
        if same:
            groups.append({id}.union(*touched))
    return groups


def _is_mixed(slots: set[Slot]) -> bool:
    return any(not one & other for one, other in combinations(slots, 2))


def _is_asked_apart(cited: set[str], asked: list[tuple[Slot, ...]]) -> bool:
    """Whether a question asks for two things which some messages state, each another one."""
    return any(_is_mixed({slot for slot in slots if slot & cited}) for slots in asked)


def _live(rows: Rows, session: str) -> list[Fact]:
    facts = rows.find(Fact, session=session)
    gone = {old for fact in facts for old in fact.supersedes}
    return [
        fact
        for fact in facts
        if fact.status == Status.ACTIVE and fact.valid_to is None and fact.id not in gone
    ]
