"""An extractor made of rules, in the place of a language model.

It answers the product's own prompt and sees what a model would see: the numbered messages
and the known items, nothing else. What a message states, and whether a known item shows it
already, is for ``claims.py`` to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from graph_memory.ports import Answer, ToolSchema

from .claims import CUT, WORDS, Claim, claimed, never, says_again
from .synonyms import Synonyms

SEEN = 80
"""Characters by which a statement is known again, which a prompt may have cut."""

_LINE = re.compile(
    r"^\[(?P<number>\d+)\] \d\d:\d\d U\d+ (?P<name>[^:]*): (?P<text>.*)$", re.MULTILINE
)
_KNOWN = re.compile(r"^(?P<number>\d+)\. \S+ (?P<label>\S+) \w+: (?P<text>.*)$", re.MULTILINE)
_THING = re.compile(r"^(?P<label>E\d+) (?P<name>.*) \(\w+\)$", re.MULTILINE)


class RuleModel:
    """A language model that knows a few rules.

    Args:
        synonyms: Which words it knows to mean the same; ``None``: none.

    Attributes:
        calls: How often it was asked.
        offered: In how many answers it could point at a known item.
        shown: What was known beside a statement when it was answered, or answered with it,
            by (who said it, statement).
    """

    def __init__(self, synonyms: Synonyms | None = None) -> None:
        self._synonyms = synonyms
        self._same = synonyms.same if synonyms else never
        self.calls = 0
        self.offered = 0
        self.shown: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """The answer to a prompt of ``learning/prompt.py``."""
        self.calls += 1
        if self._synonyms:
            told = [m["text"] for form in (_LINE, _KNOWN) for m in form.finditer(prompt)]
            await self._synonyms.learn(c.value for c in map(claimed, told) if c.label in WORDS)
        return Answer("", self._answer(prompt), 1, 1)

    def has_seen(self, who: str, statements: Collection[str]) -> bool:
        """Whether each of some statements but the first was answered with another one of
        them before its eyes."""
        seen = 0
        for statement in statements:
            beside = {known[:SEEN] for known in self.shown[who, statement]}
            seen += any(each[:SEEN] in beside for each in statements if each != statement)
        return seen >= len(statements) - 1

    def says_again(self, claim: Claim, names: set[str], known: str) -> float:
        """See :func:`claims.says_again`."""
        return says_again(claim, names, known, self._same)

    def _answer(self, prompt: str) -> dict[str, Any]:
        known, _, chat = prompt.rpartition("<chat>")
        names = {m["label"]: _names(m["name"]) for m in _THING.finditer(known)}
        standing = {
            int(m["number"]): (names.get(m["label"], set()), m["text"].rstrip("。"))
            for m in _KNOWN.finditer(known)
        }
        called = frozenset[str]().union(*names.values())
        claims: list[tuple[Claim, list[str]]] = []
        who = ""
        entities: dict[str, dict[str, Any]] = {}
        restated: set[int] = set()
        for line in _LINE.finditer(chat):
            claim, who = claimed(line["text"], called), line["name"]
            if claim.holder:
                kind = "person" if claim.is_person else "event"
                entity = {"id": f"E{90 + len(entities)}", "name": claim.holder, "type": kind}
                known_as = entities.setdefault(claim.holder, {**entity, "aliases": ""})
                known_as["aliases"] = claim.alias or known_as["aliases"]
            clear = {number: self.says_again(claim, *item) for number, item in standing.items()}
            again = max(clear, key=lambda number: clear[number], default=0)
            said = next(
                (c for c in claims if self.says_again(claim, {c[0].alias}, c[0].statement)), None
            )
            if clear.get(again):
                restated.add(again)
            elif said is not None:
                said[1].append(line["number"])
            else:
                claims.append((claim, [line["number"]]))
        beside = {known.rstrip(CUT) for _, known in standing.values()} | {
            c.statement for c, _ in claims
        }
        for claim, _ in claims:
            self.shown[who, claim.statement] |= beside
        facts = [
            {
                "subject": claim.holder or "U1",
                "predicate": claim.predicate,
                "object": claim.value,
                "statement": claim.statement,
                "evidence": ",".join(numbers),
            }
            for claim, numbers in claims
        ]
        self.offered += bool(restated)
        return {
            "worth": True,
            "summary": "",
            "entities": list(entities.values()),
            "facts": facts,
            "restated": ",".join(map(str, sorted(restated))),
        }


def _names(shown: str) -> set[str]:
    """What a known thing is called; whoever is 张三的同事 is 同事 to who speaks."""
    names = set(shown.split(" / "))
    return names | {name.rpartition("的")[2] for name in names}
