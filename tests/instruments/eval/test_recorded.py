"""That the worlds can be read, and that the judge notices what it is for."""

from pathlib import Path

import pytest

from graph_memory.errors import ExtractionError
from graph_memory.inference import Answer, Embedder

from .cassette import Cassette, put_right
from .recorded import TRAPS, Recorded
from .world import FOLDER, LANGUAGES, read


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_answer_was_said_and_every_trap_has_its_words(name: str) -> None:
    world = read(name)
    lines = [line for talk in world.talks for line in talk.lines]
    tags = {tag: line for line in lines for tag in line.tags}
    assert len(lines) > 250
    assert len(world.questions) >= 70
    assert len({talk.session.persona for talk in world.talks}) == (
        1 if name in ("garage", "dorm", "crew", "fans", "salon", "stage", "nest") else 2
    )
    for question in world.questions:
        assert question.gold <= tags.keys(), question.text
        assert bool(question.answer) != (question.kind in TRAPS), question.text


async def test_a_memory_that_learns_nothing_is_judged_by_what_it_shows() -> None:
    found = await Recorded(read("zh"), None, None).run()
    assert found["facts"] == 0
    assert 0.5 < found["answer_in_block"] < 0.95
    assert {"我在哪家公司上班", "我多大了"} <= {*found["missed"]}
    assert any("前端用的uni-app" in line for line in found["outdated_as_current"])
    assert all(text != "我的支付密钥是什么" for text, _ in found["leaks"])


SAID = {"lines": "summary|嗯"}


async def test_an_answer_belongs_to_one_chat(tmp_path: Path) -> None:
    path, port = tmp_path / "answers.jsonl", tmp_path / "port"
    port.mkdir()
    (port / "001.answer.txt").write_text("summary|嗯", encoding="utf-8")
    assert await Cassette(path, port).ask("s", "p") == Answer("", SAID, 0, 0)
    again = Cassette(path)
    assert (await again.ask("s", "p")).arguments == SAID
    with pytest.raises(ExtractionError, match="not recorded"):
        await again.ask("s", "another")
    assert again.missing == ["another"]


def test_numbers_and_labels_follow_what_they_stand_for() -> None:
    recorded = [
        "U5 王磊",
        "E1 弟弟 (person)",
        "1. 2026-03-02 U1 likes: 猫",
        "2. 2026-03-02 U1 age: 26",
    ]
    shown = ["U4 王磊", "E2 弟弟 (person)", "1. 2026-03-03 U1 age: 26"]
    answer = [
        "summary|他们打球", "E2|上海|place|", "U5|plans|E2|3|2026|0.5|>1|出差|王磊去上海",
        "E1|age|5|4||0.5|past >2||弟弟五岁", "restated|1:3", "ended|2:4", "U1|likes|E1|1||0.5|||一",
    ]  # fmt: skip
    assert put_right(answer, recorded, shown) == [
        "summary|他们打球", "E102|上海|place|", "U4|plans|E102|3|2026|0.5||出差|王磊去上海",
        "E2|age|5|4||0.5|past >1||弟弟五岁", "ended|1:4", "U1|likes|E2|1||0.5|||一",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("language", "least"), [("zh", 0.95), ("en", 0.95)])
async def test_what_users_get_is_held(language: str, least: float, bundled: Embedder) -> None:
    cassette = Cassette(FOLDER / f"{language}.answers.jsonl")
    found = await Recorded(read(language), cassette, bundled).run(plain=False)
    assert cassette.missing == []
    assert found["answer_in_block"] >= least
    assert found["strict"] >= 0.43
    assert found["median_tokens"] <= 180
    assert (found["small_talk_with_anything"], found["leaks"]) == (0, [])
    assert len(found["outdated_as_current"]) <= 5


APART = {
    "work": 0.72, "voice": 0.7, "home": 0.79, "garage": 0.74, "dorm": 0.81,
    "crew": 0.54, "fans": 0.74, "salon": 0.69, "stage": 0.82, "nest": 0.66,
}  # fmt: skip
"""By words alone: vectors take nine tenths of the time; ``./dev eval --recorded`` has them."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), APART.items())
async def test_worlds_that_were_written_apart_have_all_answers(name: str, least: float) -> None:
    """What ends a batch sooner asks for answers that were never recorded, and learning stops."""
    cassette = Cassette(FOLDER / f"{name}.answers.jsonl")
    found = await Recorded(read(name), cassette, None).run(plain=False)
    assert cassette.missing == []
    assert found["answer_in_block"] >= least
