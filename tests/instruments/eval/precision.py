"""PrecisionMemBench through the product's own recall: is anything shown that should not be?

A folder with beliefs and questions. What the benchmark calls a scope becomes what keeps
memories apart here: a user is a user with a private chat, a domain is a persona, and what
holds for a user everywhere (``user:universal``) is a fact about the user, which layered
sharing shows under every persona. A belief of a domain is a fact about a thing that goes by
the belief's name and aliases; one that was superseded or resolved is replaced or over. An
open question is a plan: something that somebody still has to settle.
A question over several domains is asked under each of these personas.

The benchmark tells pinned facts, open questions, what holds for the user everywhere and
relevant beliefs apart. Recall has one list, so *must include* asks for all that is required
in any of these, *only include* that of the relevant beliefs none but those listed is shown,
and *must exclude* that nothing forbidden is.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graph_memory.inference import Embedder
from graph_memory.model import Entity, Row, Session, User, asker_of, session_of, stable_id
from graph_memory.recall import Recaller
from graph_memory.settings import Settings
from graph_memory.store import Journal
from tests.makers import context, fact, name, put

from .trial import PLATFORM, Progress, nobody

UNIVERSAL = "user:universal"
ASKER = "test-user"
SESSIONS = "session"
"""Category of the questions that come in the course of a conversation."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question and what may, must and must not be shown; ids of beliefs."""

    category: str
    user: str
    domains: tuple[str, ...]
    query: str
    required: frozenset[str]
    allowed: frozenset[str] | None
    forbidden: frozenset[str]


@dataclass(slots=True)
class Precise:
    """By category, for each kind of check: whether each question passed it."""

    checks: dict[str, dict[str, list[bool]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    relevant: list[float] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    leaks: int = 0

    def add(self, case: Case, shown: set[str], plain: frozenset[str]) -> None:
        """Enter what was shown for a question; ``plain`` are the beliefs that can be relevant."""
        passed = {
            "must_include": case.required <= shown if case.required else None,
            "only_include": None if case.allowed is None else shown & plain <= case.allowed,
            "must_exclude": not case.forbidden & shown if case.forbidden else None,
        }
        given = {key: value for key, value in passed.items() if value is not None}
        for category in ("all", case.category):
            for key, value in given.items():
                self.checks[category][key].append(value)
            self.checks[category]["all_checks"].append(all(given.values()))
        wanted = (case.allowed or frozenset()) | case.required
        if wanted:
            self.relevant.append(len(wanted & shown) / len(wanted))
        self.shown.append(len(shown))

    def summary(self) -> dict[str, Any]:
        """Pass rates by category, with the number of questions as ``n``."""
        table: dict[str, Any] = {
            category: {
                **{key: round(sum(each) / len(each), 4) for key, each in checks.items()},
                "n": len(checks["all_checks"]),
            }
            for category, checks in sorted(
                self.checks.items(), key=lambda entry: (entry[0] != "all", entry[0])
            )
        }
        table["relevant_shown"] = round(sum(self.relevant) / max(1, len(self.relevant)), 4)
        table["items_shown"] = round(sum(self.shown) / max(1, len(self.shown)), 2)
        table["leak"] = self.leaks
        return table


class Precision:
    def __init__(self, folder: Path, journal: Journal, embedder: Embedder | None) -> None:
        self._beliefs = _load(folder / "beliefs.seed.json")
        self._cases = [
            _case(each["category"], each.get("userId", ASKER), each, each["query"])
            for each in _load(folder / "retrieval.cases.json")
        ]
        self._cases += [
            _case(SESSIONS, ASKER, turn, turn["userMessage"])
            for conversation in _load(folder / "session-retrieval.cases.json")
            for turn in conversation["turns"]
        ]
        self._journal = journal
        self._embedder = embedder

    async def run(self, progress: Progress = nobody) -> Precise:
        """Write the beliefs and ask everything."""
        latest = max(_when(each["updated_at"]) for each in self._beliefs)
        settings = Settings(recall_deadline=10_000)
        recaller = Recaller(context(self._journal, settings, now=lambda: latest))
        recaller.follow()
        await recaller.start()
        report = Precise()
        try:
            rows = [row for belief in self._beliefs for row in self._rows(belief)]
            await put(self._journal, *rows)
            if self._embedder:
                recaller.use(self._embedder)
            await recaller.settle()
            held = (each for each in self._beliefs if not each["pinned"])
            told = (each for each in held if each["type"] != "open_question")
            plain = frozenset(each["_id"] for each in told if each["scope"] != [UNIVERSAL])
            for number, case in enumerate(self._cases):
                report.add(case, await self._ask(recaller, case, report), plain)
                progress("asking", number + 1, len(self._cases))
        finally:
            await recaller.close()
        return report

    async def _ask(self, recaller: Recaller, case: Case, report: Precise) -> set[str]:
        shown: set[str] = set()
        whose = {each["_id"]: each["user_id"] for each in self._beliefs}
        for domain in case.domains:
            session = _chat(case.user, domain)
            found = await recaller.remind(asker_of(session, session.owner), case.query)
            shown |= {item.id for item in found.items}
        report.leaks += sum(whose[id] != case.user for id in shown)
        return shown

    def _rows(self, belief: dict[str, Any]) -> list[Row]:
        (scope,) = belief["scope"]
        session = _chat(belief["user_id"], scope)
        made, used = _when(belief["created_at"]), _when(belief["last_reinforced_at"])
        thing = stable_id("e", belief["_id"])
        subject = session.owner if scope == UNIVERSAL else thing
        told = fact(
            session,
            subject,
            thing,
            belief["content"],
            id=belief["_id"],
            predicate="plans" if belief["type"] == "open_question" else "other",
            speaker=session.owner,
            at=made,
            last_used=max(made, used),
            importance=belief["confidence"],
            use_count=max(1, belief["reinforcement_count"]),
            pinned=belief["pinned"],
            valid_to=_when(belief["resolved_at"]) if belief["resolved_at"] else None,
            supersedes=tuple(
                each["_id"] for each in self._beliefs if each["superseded_by"] == belief["_id"]
            ),
        )
        called = dict.fromkeys([*belief["aliases"], belief["canonical_name"].replace("_", " ")])
        names = (name(session, thing, each, made) for each in called)
        return [session, User(session.owner), Entity(thing), *names, told]


def _chat(user: str, scope: str) -> Session:
    return session_of(PLATFORM, "", user, scope)


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _when(text: str | None) -> float:
    return datetime.fromisoformat(text).astimezone(UTC).timestamp() if text else 0.0


def _case(category: str, user: str, given: dict[str, Any], query: str) -> Case:
    expected: dict[str, Any] = given["expect"]
    lists = [part for part in expected.values() if isinstance(part, dict)]

    def all_of(key: str) -> frozenset[str]:
        return frozenset(id for part in lists for id in part.get(key, ()))

    only = expected.get("relevantBeliefs", {}).get("shouldOnlyInclude")
    allowed, required = None if only is None else frozenset(only), all_of("mustInclude")
    # What one list must show and another must not is only in its place.
    forbidden = all_of("mustNotSurface") | (all_of("mustExclude") - required)
    return Case(category, user, tuple(given["scope"]), query, required, allowed, forbidden)
