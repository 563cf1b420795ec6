"""What the call that learns is asked besides: little, explained, and only when it is on."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from graph_memory.companion.core_facts import CoreFactExtension
from graph_memory.companion.inner_state import MoodExtension
from graph_memory.learning.prompt import TOOL
from graph_memory.text import tokens

LESSONS = (CoreFactExtension, MoodExtension)


def size(properties: dict[str, object]) -> int:
    tool = replace(TOOL, parameters={**TOOL.parameters, "properties": properties})
    return tokens(json.dumps([tool.name, tool.description, tool.parameters], ensure_ascii=False))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_they_cost_little(language: str) -> None:
    plain = TOOL.parameters["properties"]
    words = sum(tokens(lesson._INSTRUCTIONS[language]) for lesson in LESSONS)
    fields = {name: s for lesson in LESSONS for name, s in lesson.properties.items()}
    schema = size({**plain, **fields}) - size(plain)
    print(f"core facts and mood: {words} + {schema} tokens ({language})")
    assert words + schema <= 380


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_field_is_explained(
    lesson: type[CoreFactExtension | MoodExtension], language: str
) -> None:
    told = lesson._INSTRUCTIONS[language]
    for name, schema in lesson.properties.items():
        inner = schema.get("items", schema).get("properties", {})
        assert all(field in told for field in (name, *inner)), name


def test_no_field_is_taken_already() -> None:
    names = [name for lesson in LESSONS for name in lesson.properties]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(TOOL.parameters["properties"])
