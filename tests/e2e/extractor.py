"""A stand-in for the model that learns: reads the plugin's real prompt by a few rules.

It answers through the plugin's real tool, so everything but the intelligence is real.
"""

import re
from typing import Any

from tests.prompts import Shown
from tests.scripted import answer, said, thing

from .harness import ChatCall, ToolCall

TOOL = "save_memory"

_RULES: tuple[tuple[str, str, str], ...] = (
    (r"我(?:最)?喜欢(?:吃|喝)?([^，。！,.!\s]+)", "likes", "{name}喜欢{object}"),
    (r"我擅长([^，。！,.!\s]+)", "skilled_in", "{name}擅长{object}"),
    (r"我住在([^，。！,.!\s]+)", "lives_in", "{name}住在{object}"),
    (r"我对([^，。！,.!\s]+)过敏", "allergic_to", "{name}对{object}过敏"),
    (r"我养了一只叫([^，。！,.!\s]+)的猫", "has_pet", "{name}养了一只叫{object}的猫"),
    (r"我的师父是([^，。！,.!\s]+)", "mentor", "{name}的师父是{object}"),
    (r"\bmy mentor is (\w+)", "mentor", "{name}'s mentor is {object}"),
    (r"\bI live in (\w+)", "lives_in", "{name} lives in {object}"),
    (r"我(?:打算|计划)([^，。！,.!\s]+)", "plans", "{name}打算{object}"),
)
_OTHERS = re.compile(r"@(U\d+) (?:最)?喜欢([^，。！,.!\s]+)")
_WORLD = re.compile(r"(\w+?)(常用于|有助于)(\w+)")


def is_extraction(call: ChatCall) -> bool:
    """Whether a request asks for memories."""
    return TOOL in call.tool_names or TOOL in call.system


def extract(call: ChatCall) -> ToolCall:
    """What a model would save: facts people state about themselves, and a few of things."""
    return ToolCall(TOOL, claims(call))


def claims(call: ChatCall) -> dict[str, Any]:
    """The arguments of the tool."""
    shown = Shown(call.last_user)
    people = shown.people
    entities: dict[str, str] = {}
    facts: list[dict[str, Any]] = []

    def label(name: str) -> str:
        return entities.setdefault(name, f"E{len(entities) + 90}")

    def state(number: int, subject: str, predicate: str, object: str, statement: str) -> None:
        facts.append(said(subject, predicate, label(object), statement, number, importance=0.6))

    for line in shown.lines:
        number, who, text = line.number, line.label, line.text
        for pattern, predicate, statement in _RULES:
            for object in re.findall(pattern, text):
                sentence = statement.format(name=people[who], object=object)
                state(number, who, predicate, object, sentence)
        for person, object in _OTHERS.findall(text):
            state(number, person, "likes", object, f"{people[person]}喜欢{object}")
        for subject, verb, object in _WORLD.findall(text):
            state(number, label(subject), "other", object, f"{subject}{verb}{object}")
    things = [thing(id, name, "topic") for name, id in entities.items()]
    summary = "；".join(fact["statement"] for fact in facts)
    return answer(*facts, entities=things, summary=summary, worth=bool(facts))
