"""A stand-in for the model that learns: reads the plugin's real prompt by a few rules.

It answers through the plugin's real tool, so everything but the intelligence is real. ``./dev up``
has it where no real model is given.
"""

import re
from typing import Any

from tests.cases import rows
from tests.prompts import Shown
from tests.scripted import answer, said, thing

from .harness import ChatCall, ToolCall

TOOL = "save_memory"

_CLAUSES = re.compile(r"[，。！!；;,.\n]+")
_QUESTION = re.compile(r"[？?]|什么|吗|呢|谁|哪|怎么")
_CALLED = re.compile(r"^我(?:的名字)?叫(\S{1,12})$|^my name is (\w+)$", re.IGNORECASE)
_OWN = r"(?:^|我)(?:也|还|最|很|特别|一直|现在|最近)*"
_RULES = [(rule.replace("OWN ", _OWN), *rest) for rule, *rest in rows(__file__, "RULES")]
_OTHERS = re.compile(r"@(U\d+) (?:最)?喜欢([^，。！,.!\s]+)")
_WORLD = re.compile(r"(\w+?)(常用于|有助于)(\w+)|用 ?(\w+?) ?(部署|写)(\w+)")


def is_extraction(call: ChatCall) -> bool:
    """Whether a request asks for memories."""
    return TOOL in call.tool_names or TOOL in call.system


def extract(call: ChatCall) -> ToolCall:
    """What a model would save: facts people state about themselves, and a few of things."""
    return ToolCall(TOOL, claims(call))


def claims(call: ChatCall) -> dict[str, Any]:
    """The arguments of the tool."""
    shown = Shown(call.last_user)
    people = dict(shown.people)
    entities: dict[str, str] = {}
    facts: list[dict[str, Any]] = []

    def label(name: str) -> str:
        return entities.setdefault(name, f"E{len(entities) + 90}")

    def state(number: int, subject: str, predicate: str, object: str, statement: str) -> None:
        facts.append(said(subject, predicate, label(object), statement, number, importance=0.6))

    for line in shown.lines:
        number, who, text = line.number, line.label, line.text
        for clause in map(str.strip, _CLAUSES.split(text)):
            if called := _CALLED.match(clause):
                people[who] = called[1] or called[2]
            for pattern, predicate, statement in _RULES if not _QUESTION.search(clause) else ():
                for object in re.findall(pattern, clause):
                    sentence = statement.format(name=people[who], object=object)
                    state(number, who, predicate, object, sentence)
        for person, object in _OTHERS.findall(text):
            state(number, person, "likes", object, f"{people[person]}喜欢{object}")
        for found in _WORLD.finditer(text):
            subject, verb, object = filter(None, found.groups())
            state(number, label(subject), "other", object, f"{subject}{verb}{object}")
    things = [thing(id, name, "topic") for name, id in entities.items()]
    summary = "；".join(fact["statement"] for fact in facts)
    core = [
        {
            "type": "fact", "text": each["statement"], "about": each["subject"],
            "evidence": each["evidence"],
        }
        for each in facts
    ]  # fmt: skip
    asked_for = {"core": core, "mood": {"valence": 0.3, "arousal": 0.3}}  # by the companion
    return answer(*facts, entities=things, summary=summary, worth=bool(facts), **asked_for)
