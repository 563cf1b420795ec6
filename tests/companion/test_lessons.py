"""What the call that learns is asked besides is explained and takes no other field."""

from __future__ import annotations

import pytest

from graph_memory.companion.core_facts import CoreFactExtension
from graph_memory.companion.inner_state import MoodExtension
from graph_memory.learning.prompt import TOOL

LESSONS = (CoreFactExtension, MoodExtension)


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
