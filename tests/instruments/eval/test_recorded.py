"""That the worlds can be read, and that the judge notices what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_memory.errors import ExtractionError
from graph_memory.ports import Answer

from .cassette import Cassette
from .recorded import TRAPS, Recorded
from .world import read


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_answer_was_said_and_every_trap_has_its_words(language: str) -> None:
    world = read(language)
    lines = [line for talk in world.talks for line in talk.lines]
    tags = {tag: line for line in lines for tag in line.tags}
    assert len(lines) > 250
    assert len(world.questions) >= 80
    assert len({talk.session.persona for talk in world.talks}) == 2
    for question in world.questions:
        assert question.gold <= tags.keys(), question.text
        assert bool(question.answer) != (question.kind in TRAPS), question.text


async def test_a_memory_that_learns_nothing_is_judged_by_what_it_shows() -> None:
    found = await Recorded(read("zh"), None, None).run()
    assert found["facts"] == 0
    assert 0.5 < found["answer_in_block"] < 0.95
    assert {"我在哪家公司上班", "我多大了"} <= {*found["missed"]}
    assert any("31个用户" in line for line in found["outdated_as_current"])
    assert all(text != "我的支付密钥是什么" for text, _ in found["leaks"])


SAID = {"lines": "summary|嗯"}


async def test_an_answer_belongs_to_one_prompt(tmp_path: Path) -> None:
    path, port = tmp_path / "answers.jsonl", tmp_path / "port"
    port.mkdir()
    (port / "001.answer.txt").write_text("summary|嗯", encoding="utf-8")
    assert await Cassette(path, port).ask("s", "p") == Answer("", SAID, 0, 0)
    again = Cassette(path)
    assert (await again.ask("s", "p")).arguments == SAID
    with pytest.raises(ExtractionError, match="not recorded"):
        await again.ask("s", "another")
    assert again.missing == ["another"]
