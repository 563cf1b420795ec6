"""What the offline stand-in "extracts" from a conversation: a handful of patterns.

A real model understands; this only matches sentences like 我喜欢…, so that what the
plugin does around the model can be seen without one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.prompts import Shown
from tests.scripted import said

CLAUSES = re.compile(r"[，。！!？?；;,.\n]+|但是|不过|而且")
QUESTION = re.compile(
    r"[？?]|什么|吗|呢|谁|哪|怎么|\b(?:what|who|where|how|do you)\b", re.IGNORECASE
)
CALLED = re.compile(r"我(?:的名字)?叫([^\s，。,.！!]{1,12})|my name is (\w+)", re.IGNORECASE)
ADVERBS = r"(?:也|还|最|很|特别|平时|一直|现在|目前|最近|主要|打小)*"


@dataclass(frozen=True)
class Rule:
    """How a clause is read.

    Attributes:
        pattern: Matches the clause; group ``o`` is what the fact is about.
        statement: With ``{s}`` for the speaker, ``{o}`` for the object.
    """

    pattern: re.Pattern[str]
    predicate: str
    type: str
    statement: str
    importance: float = 0.5


def _rule(pattern: str, predicate: str, type: str, statement: str, weight: float = 0.5) -> Rule:
    compiled = re.compile(pattern.replace("{a}", ADVERBS), re.IGNORECASE)
    return Rule(compiled, predicate, type, statement, weight)


RULES = (
    _rule(r"^我(?:的名字)?叫(?P<o>\S{1,12})$", "is_named", "topic", "这位用户叫{o}", 0.9),
    _rule(r"^我?{a}(?:不喜欢|讨厌|不爱|不吃)(?P<o>.+)$", "dislikes", "topic", "{s}不喜欢{o}"),
    _rule(r"^我?{a}(?:喜欢|爱)(?P<o>.+)$", "likes", "topic", "{s}喜欢{o}"),
    _rule(r"^我?{a}(?:住在|搬到|搬去)(?P<o>.+?)了?$", "lives_in", "place", "{s}住在{o}", 0.7),
    _rule(r"^我?{a}对(?P<o>.+?)过敏", "allergic_to", "thing", "{s}对{o}过敏", 1.0),
    _rule(
        r"^我?{a}是(?:一名|一个|个)?(?P<o>\S*(?:工程师|老师|医生|护士|设计师|程序员|律师|学生))$",
        "works_as",
        "topic",
        "{s}是{o}",
        0.7,
    ),
    _rule(r"^我?{a}(?:在学|正在学)(?P<o>.+)$", "studies", "topic", "{s}在学{o}"),
    _rule(r"^我?{a}(?:擅长|精通)(?P<o>.+)$", "skilled_in", "topic", "{s}擅长{o}", 0.6),
    _rule(r"^我?{a}(?:打算|计划|准备)(?P<o>.+)$", "plans", "event", "{s}打算{o}", 0.4),
    _rule(r"^我?{a}养了(?:一只|一条|一个)?(?P<o>.+)$", "has_pet", "animal", "{s}养了{o}", 0.6),
    _rule(r"^我?{a}开了(?:一家|一间)?(?P<o>.+)$", "owns", "organization", "{s}开了{o}", 0.6),
    _rule(
        r"^我?的?(?:女朋友|男朋友|老婆|老公|妻子|丈夫)(?:叫|是)(?P<o>.+)$",
        "partner",
        "person",
        "{s}的伴侣是{o}",
        0.8,
    ),
    _rule(r"^my name is (?P<o>\w+)$", "is_named", "topic", "The user is called {o}", 0.9),
    _rule(r"^i (?:really |also )?(?:like|love) (?P<o>.+)$", "likes", "topic", "{s} likes {o}"),
    _rule(r"^i (?:now )?live in (?P<o>.+)$", "lives_in", "place", "{s} lives in {o}", 0.7),
    _rule(
        r"^i(?: am|'m) allergic to (?P<o>.+)$",
        "allergic_to",
        "thing",
        "{s} is allergic to {o}",
        1.0,
    ),
)
USED_FOR = re.compile(r"用\s*(?P<s>[A-Za-z]\w*)\s*(?:来)?(?P<v>部署|搭建|开发|写)(?P<o>[^，。]+)")
"""A fact about the world: one thing used for another."""


def extract(prompt: str) -> dict[str, Any]:
    """The arguments of ``save_memory`` for a batch, as the plugin shows it to a model."""
    return _Notes(prompt).arguments()


class _Notes:
    """Facts and entities found so far."""

    def __init__(self, prompt: str) -> None:
        shown = Shown(prompt)
        self._known = {fact.statement: fact.number for fact in shown.known}
        self._entities: dict[str, dict[str, str]] = {}
        self._facts: list[dict[str, Any]] = []
        self._restated: list[int] = []
        self._names: dict[str, str] = {}
        for line in shown.lines:
            self._read(line.number, line.label, line.name, line.text)

    def arguments(self) -> dict[str, Any]:
        """What is answered."""
        about = "、".join(dict.fromkeys(e["name"] for e in self._entities.values()))
        people = "、".join(self._names.values())
        return {
            "worth": bool(self._facts or self._restated),
            "summary": f"{people}聊到{about}" if about else "",
            "entities": list(self._entities.values()),
            "facts": self._facts,
            "restated": self._restated,
        }

    def _read(self, number: int, label: str, name: str, text: str) -> None:
        if QUESTION.search(text):
            return
        nickname = name = name or self._names.get(label, "")
        if called := CALLED.search(text):
            name = called.group(1) or called.group(2)
        elif label in self._names:
            name = self._names[label]
        self._names[label] = name
        for rule, object in _facts(text):
            if rule.predicate == "is_named" and object == nickname:
                continue  # the plugin knows what people are called
            statement = rule.statement.format(s=name or label, o=object)
            self._note(number, label, rule.predicate, object, rule.type, statement, rule.importance)
        for match in USED_FOR.finditer(text):
            tool, verb, object = match.group("s", "v", "o")
            subject = self._entity(tool, "thing")
            self._note(number, subject, "other", object, "topic", f"{tool}用来{verb}{object}", 0.4)

    def _note(
        self,
        number: int,
        subject: str,
        predicate: str,
        object: str,
        type: str,
        statement: str,
        importance: float,
    ) -> None:
        if statement in self._known:
            self._restated.append(self._known[statement])
            return
        thing = self._entity(object, type)
        self._facts.append(
            said(subject, predicate, thing, statement, number, importance=importance)
        )

    def _entity(self, name: str, type: str) -> str:
        # Labels far from the plugin's own: what it knows already it finds by name.
        new = {"id": f"E{len(self._entities) + 101}", "name": name, "type": type}
        return self._entities.setdefault(name, new)["id"]


def _facts(text: str) -> Iterator[tuple[Rule, str]]:
    """Rules that match clauses of a message, with the object of each."""
    about_me = bool(re.search(r"我|\b(?:I|my)\b", text))
    for clause in map(str.strip, CLAUSES.split(text)) if about_me else ():
        for rule in RULES:
            if match := rule.pattern.match(clause):
                yield rule, match.group("o").strip()
                break
