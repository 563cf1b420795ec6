"""Both languages say the same things, and everything that is said is in both."""

import re
import string

from graph_memory.locales import TEXTS, say

from .sources import ROOT, runtime_modules

COMPOSED = (
    "block_", "care_", "control_", "core_", "doctor_", "error_", "forgetme_", "graph_", "help_",
    "import_skipped_", "inner_part_", "inner_seed_", "mood_", "open_record_", "people_", "redone_",
    "search_history_", "storage_", "tool_", "undone_", "why_",
)  # fmt: skip
"""Beginnings of keys whose ends are made while running."""


def placeholders(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def test_the_same_texts_with_the_same_placeholders() -> None:
    assert list(TEXTS["zh"]) == list(TEXTS["en"])
    for key, chinese in TEXTS["zh"].items():
        english = TEXTS["en"][key]
        assert chinese.strip(), key
        assert english.strip(), key
        assert placeholders(chinese) == placeholders(english), key


def test_no_two_reasons_of_changes_read_alike() -> None:
    older = {"reason.learn", "reason.claim", "reason.staged"}
    for texts in TEXTS.values():
        reasons = [key for key in texts if key.startswith("reason.") and key not in older]
        assert len({texts[key] for key in reasons}) == len(reasons)


def test_no_key_is_there_twice() -> None:
    for language, texts in TEXTS.items():
        path = ROOT / "graph_memory" / "locales" / f"{language}.json"
        assert len(re.findall(r'^  "', path.read_text("utf-8"), re.MULTILINE)) == len(texts)


def test_no_text_of_the_chat_is_left_over() -> None:
    source = "".join(path.read_text("utf-8") for path in runtime_modules())
    for key in TEXTS["zh"]:
        assert "." in key or key.startswith(COMPOSED) or key in source, key


def test_values_may_contain_braces() -> None:
    assert say("zh", "forgotten", statement="他说{name}{{x}}").startswith(
        "🧠 已忘掉：他说{name}{{x}}"
    )


def test_apostrophes_are_of_one_kind() -> None:
    assert not [key for key, english in TEXTS["en"].items() if "’" in english]


def test_english_uses_no_word_of_the_code() -> None:
    """People know chats, conversations and summaries, neither Sessions nor episodes."""
    texts = [re.sub(r"\{\w+:?|`[^`]*`", "", text) for text in TEXTS["en"].values()]
    assert [text for text in texts if re.search(r"\bSessions?\b|\b[Ee]pisodes?\b", text)] == []
    assert say("en", "import_skipped_double", count=156) == "Left out: 156 duplicates"
