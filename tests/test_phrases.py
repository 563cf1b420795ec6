"""Both languages say the same things."""

from __future__ import annotations

import string

from graph_memory.phrases import FAMILIES, PHRASES, say


def placeholders(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def test_the_same_phrases_with_the_same_placeholders() -> None:
    assert list(PHRASES["zh"]) == list(PHRASES["en"])
    for key, chinese in PHRASES["zh"].items():
        assert placeholders(chinese) == placeholders(PHRASES["en"][key]), key


def test_no_family_overwrites_a_phrase_of_another() -> None:
    for language, phrases in PHRASES.items():
        assert len(phrases) == sum(len(family[language]) for family in FAMILIES)


def test_values_may_contain_braces() -> None:
    assert say("zh", "forgotten", statement="他说{name}{{x}}").startswith(
        "🧠 已忘掉：他说{name}{{x}}"
    )
