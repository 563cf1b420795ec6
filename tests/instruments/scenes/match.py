"""Whether what is remembered is what a scene expects."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graph_memory.model import BOT as BOTS_ID
from graph_memory.model import Fact, is_entity, stable_id
from graph_memory.recall import Recall
from graph_memory.recall.render import EN, ZH
from graph_memory.text import normalise
from tests.makers import user

from .play import Memory, day, session
from .stage import BOT, UNKNOWN, Ask, Expected, Scene

NOBODY = (
    *("用户", "使用者", "我", "你", "他", "她", "它", "我们", "大家", "群友", "某人", "对方"),
    *("user", "the user", "speaker", "i", "you", "he", "she", "they", "everyone", "someone"),
    *("unknown", "null", "none"),
)
"""Nothing in the memory is ever called this."""
LABEL = re.compile(r"[ue]\d{1,3}")
"""Nor this, unless somebody said it (the band U2)."""
OUTDATED = (
    *(words[name] for words in (ZH, EN) for name in ("replaced", "formerly", "settled")),
    *(max(words["until"].format(date="|").split("|"), key=len) for words in (ZH, EN)),
)


@dataclass(frozen=True)
class Reading:
    """A memory, read for comparison."""

    memory: Memory

    def called(self, node: str) -> frozenset[str]:
        """The names of a node, normalised; users also by account."""
        names = {normalise(name) for name in self.memory.names.get(node, ())}
        return frozenset(names | ({normalise(node.partition(":")[2])} - {""}))

    def is_named(self, node: str, wanted: str, *, loosely: bool = False) -> bool:
        """Whether a node is who is expected; a thing, ``loosely``, more or less by the name."""
        if wanted == BOT:
            personas = {where.persona for where in self.memory.sessions.values()}
            return node in {stable_id("e", f"bot:{persona}", BOTS_ID) for persona in personas}
        if not is_entity(node):
            return node == user(wanted)
        norm, names = normalise(wanted), self.called(node)
        return norm in names or (loosely and any(norm in n or n in norm for n in names if n))

    def state(self, fact: Fact) -> str:
        """``current``, ``replaced`` or ``over``, for whoever sees everything."""
        if fact.valid_to is not None:
            return "over"
        replaced = any(fact.id in other.supersedes for other in self.memory.facts)
        return "replaced" if replaced else "current"

    def wrong(self, expected: Expected, fact: Fact) -> list[str]:
        """What keeps a fact from being exactly the expected one; nothing if it is."""
        found: list[str] = []

        def check(what: str, wanted: object, is_right: bool) -> None:
            if wanted and not is_right:
                found.append(f"{what} is not {wanted!r}")

        check("subject", expected.subject, self.is_named(fact.subject, expected.subject))
        check("predicate", expected.predicate, fact.predicate == expected.predicate)
        check("object", expected.object, self.is_named(fact.object, expected.object))
        check("statement", expected.says, says(fact.statement, expected.says))
        found += self.wrong_in_time(expected, fact)
        speaker = expected.speaker or (
            expected.subject if not is_entity(fact.subject) or expected.subject == BOT else ""
        )
        spoke = {BOT: BOTS_ID, UNKNOWN: ""}.get(speaker, user(speaker))
        check("speaker", speaker, fact.speaker == spoke)
        older = [other.statement for other in self.memory.facts if other.id in fact.supersedes]
        replaced = all(any(says(text, (one,)) for text in older) for one in expected.replaces)
        check("replaced", expected.replaces, replaced)
        check("correction", True, fact.corrects == expected.corrects)
        check("uses", expected.uses, fact.use_count == expected.uses)
        where = self.memory.sessions[fact.session]
        if expected.group is not None:
            wanted = session(expected.group, fact.speaker.partition(":")[2], where.persona)
            check("group", expected.group or "private", where.circle == wanted.circle)
        if expected.persona is not None:
            check("persona", expected.persona, where.persona == expected.persona)
        return found

    def wrong_in_time(self, expected: Expected, fact: Fact) -> list[str]:
        """What of a fact's history is not as expected."""
        found: list[str] = []
        if self.state(fact) != expected.state:
            found.append(f"it is {self.state(fact)}, not {expected.state}")
        since = day(fact.valid_from) if fact.valid_from is not None else "unknown"
        until = day(fact.valid_to) if fact.valid_to is not None else "open"
        if expected.since and since != expected.since:
            found.append(f"since {since}, not {expected.since}")
        if expected.until and until != expected.until:
            found.append(f"until {until}, not {expected.until}")
        return found

    def resembles(self, expected: Expected, fact: Fact) -> bool:
        """Whether a fact in a real model's words is about the expected thing."""
        if not self.is_named(fact.subject, expected.subject, loosely=True):
            return False
        if fact.predicate not in (expected.predicate, *expected.alike):
            return False
        about = bool(expected.object) and self.is_named(fact.object, expected.object, loosely=True)
        in_words = bool(expected.object) and normalise(expected.object) in normalise(fact.statement)
        return about or in_words or says(fact.statement, expected.says)

    def stands(self) -> Iterable[str]:
        """Every fact on a line, for people who read a failed test."""
        for fact in self.memory.facts:
            subject = "/".join(sorted(self.called(fact.subject)))
            object = "/".join(sorted(self.called(fact.object)))
            yield (
                f"{subject} {fact.predicate} {object}: {fact.statement} "
                f"[{self.state(fact)}, said by {fact.speaker}, x{fact.use_count}, {fact.session}]"
            )


def says(text: str, wanted: tuple[str, ...]) -> bool:
    """Whether a text has every one of some words, ``a|b`` being either."""
    norm = normalise(text)
    return all(any(normalise(word) in norm for word in one.split("|")) for one in wanted)


def assign(
    expected: Iterable[Expected], facts: Iterable[Fact], *fits: Callable[[Expected, Fact], bool]
) -> dict[int, Fact]:
    """The fact for each expected one, by number, each used once; the better fit before others."""
    free, found = list(facts), dict[int, Fact]()
    for fit in fits:
        for number, one in enumerate(expected):
            fact = next((each for each in free if number not in found and fit(one, each)), None)
            if fact is not None:
                free.remove(fact)
                found[number] = fact
    return found


def unmet(scene: Scene, reading: Reading) -> list[str]:
    """Everything in which a memory differs from what a scene expects."""
    facts = reading.memory.facts
    found = assign(scene.facts, facts, lambda one, fact: not reading.wrong(one, fact))
    problems = [
        f"missing: {expected}{_nearest(reading, expected)}"
        for number, expected in enumerate(scene.facts)
        if number not in found
    ]
    known = {fact.id for fact in found.values()}
    problems += [
        f"not expected: {f.statement!r} ({f.predicate})"
        for f in reading.memory.facts
        if f.id not in known
    ]
    problems += forbidden(scene, reading)
    for who, names in scene.names.items():
        nodes = [node for node in reading.memory.names if reading.is_named(node, who)]
        called = {normalise(n) for node in nodes for n in reading.memory.names[node]}
        problems += [f"{who} is not called {n!r}" for n in names if normalise(n) not in called]
    for name, count in scene.nodes.items():
        found_nodes = [
            node
            for node, names in reading.memory.names.items()
            if is_entity(node) and normalise(name) in map(normalise, names)
        ]
        if len(found_nodes) != count:
            problems.append(f"{len(found_nodes)} are called {name!r}, not {count}")
    for f in reading.memory.facts:
        cited = [reading.memory.messages[m] for m in f.evidence]
        if not cited or not (f.speaker == BOTS_ID or any(m.is_human for m in cited)):
            problems.append(f"rests on nobody's word: {f.statement!r}")
        if any(m.session != f.session for m in cited):
            problems.append(f"rests on another conversation: {f.statement!r}")
    if reading.memory.waiting != scene.waiting:
        problems.append(f"{reading.memory.waiting} batches wait, not {scene.waiting}")
    return problems


def _nearest(reading: Reading, expected: Expected) -> str:
    wrong = ((reading.wrong(expected, f), f.statement) for f in reading.memory.facts)
    best = min(wrong, key=lambda w: len(w[0]), default=None)
    return f"; the nearest is {best[1]!r}: {', '.join(best[0])}" if best else ""


def forbidden(scene: Scene, reading: Reading) -> list[str]:
    facts = [
        f"must never be known: {f.statement!r} ({word})"
        for f in reading.memory.facts
        for word in scene.never
        if says(f.statement, (word,))
    ]
    nobody = {normalise(name) for name in (*NOBODY, *scene.nobody)}
    said = normalise(" ".join(m.text for m in reading.memory.messages.values()))

    def is_wrong(name: str) -> bool:
        return name in nobody or (LABEL.fullmatch(name) is not None and name not in said)

    named = [
        f"something is called {name!r}"
        for node, names in reading.memory.names.items()
        for name in sorted(names)
        if is_entity(node) and is_wrong(normalise(name))
    ]
    return facts + named


def unanswered(ask: Ask, recall: Recall) -> list[str]:
    """What is wrong about what somebody was reminded of."""
    lines = [item.text for item in recall.items]
    problems = [
        f"{ask.who} is not reminded of {word!r}"
        for word in ask.gets
        if not any(says(line, (word,)) for line in lines)
    ]
    problems += [f"{ask.who} is reminded of {word!r}" for word in leaked(ask, recall)]
    for word in ask.outdated:
        if not [line for line in lines if says(line, (word,)) and _is_outdated(line)]:
            problems.append(f"{ask.who} is not told that {word!r} is no longer so")
    if problems:
        problems.append(f"asked {ask.text!r}: {lines} ({recall.trace.problem})")
    return problems


def leaked(ask: Ask, recall: Recall) -> list[str]:
    """What somebody was reminded of and must not be, to the letter."""
    block = recall.block.casefold()
    return [word for word in ask.lacks if (word == "*" and block) or word.casefold() in block]


def _is_outdated(line: str) -> bool:
    return any(mark in line for mark in OUTDATED)
