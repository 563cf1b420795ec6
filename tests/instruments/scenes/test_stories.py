"""The stories can be played: what is learned rests on what is said. ``./dev scenes --stories``
plays them."""

from pathlib import Path

import pytest

from .stories import Story, read, stories


@pytest.mark.parametrize("story", stories(), ids=lambda story: story.name)
def test_what_is_learned_was_said(story: Story) -> None:
    said: list[str] = []
    for sitting in story.sittings:
        said += [line.text for line in sitting.lines if line.who]
        for learned in (line.split("|") for line in sitting.learned):
            words = learned[2 if len(learned) == 3 else 3] if len(learned) > 2 else ""
            for part in words.split("&"):
                assert any(part in text for text in said), (sitting.at, learned)
    assert sum(bool(line.brings or line.lacks) for s in story.sittings for line in s.lines) >= 4
    assert story.settings == {} or all(key.isidentifier() for key in story.settings)


def test_a_line_of_no_kind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("title: x\n== 2026-03-02 20:10\nwithout a speaker", encoding="utf-8")
    with pytest.raises(ValueError, match=r"story\.txt: without a speaker"):
        read(path)
