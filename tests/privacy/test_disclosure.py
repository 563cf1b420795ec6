"""What people keep secret or tell in confidence, on every way out of a memory."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph_memory.model import Mention, Name
from graph_memory.privacy.redaction import MASK
from graph_memory.store import contents

from ..cases import cases
from ..dialogue import played
from ..recall.hashing import HashingEmbedder
from ..scripted import answer, said
from ..world import World, living, zhang

DAY = 86_400.0
ROOT = Path(__file__).parents[2]
CARD, WORD = "4111111111111111", "Zx9qWv7T"


CASES = cases(Path(__file__).with_name("confidences.txt"))


@pytest.mark.parametrize("name", CASES)
async def test_what_is_told_in_a_dialogue(tmp_path: Path, name: str) -> None:
    await played(tmp_path, CASES[name])


def test_one_place_masks() -> None:
    """Everybody else asks `disclosed`, where texts are cut or sent `redacted` itself."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "graph_memory").rglob("*.py")
        if re.search(r"import.*\bredacted\b", path.read_text("utf-8"))
    }
    assert users == {
        "graph_memory/library/edits.py",  # what is typed, before it is cut
        "graph_memory/recall/query.py",  # what is asked
        "graph_memory/store/messages.py",  # what the bot repeats
        "graph_memory/store/rows.py",  # of which words vectors go
        "graph_memory/inference/token_budget.py",  # what a model is asked
    }


async def test_what_people_type_as_facts_is_masked_where_it_lies(world: World) -> None:
    await world.say(zhang, "我喜欢爬山")
    await world.learn(answer(said("U1", "likes", "爬山", "张三喜欢爬山", 1)))
    await world.commands.mine(zhang)
    # Cut off after 300 characters, half of the number would be left.
    await world.commands.correct(zhang, f"1 我的卡号是 {CARD}")
    await world.commands.mine(zhang)
    await world.commands.correct(zhang, f"1 {'很' * 280} {CARD}")
    await world.say(zhang, f"记住我的网银密码是 {WORD}")
    await world.learn()
    kept = await world.memory.journal.look(lambda db: repr(list(contents.rows(db))))
    assert CARD[:6] not in kept
    assert WORD not in kept
    assert MASK in kept


async def test_questions_are_asked_of_providers_without_secrets(world: World) -> None:
    embedder = HashingEmbedder()
    world.memory.recall.use(embedder)
    await world.ask(zhang, f"我的卡号 {CARD} 在哪家银行办的？")
    world.memory.recall.expect(f"密码是 {WORD}，对吗？")
    await world.memory.settle()
    assert any("哪家银行" in text for text in embedder.queries)
    assert not any(CARD in text or WORD in text for text in embedder.queries)
    assert CARD not in world.memory.recall.traces.recent()[0].query


async def test_what_is_only_spoken_of_in_confidence_has_no_name_for_others(world: World) -> None:
    await world.say(zhang, "我下周要辞职，这件事别告诉别人")
    await world.learn(answer(said("U1", "plans", "辞职", "张三下周要辞职", 1)))
    (name,) = [name for name in await world.rows(Name) if name.text == "辞职"]
    assert name.confidential
    await world.say(zhang, "辞职信怎么写")
    await world.learn(answer(said("U1", "other", "辞职", "张三要写辞职信", 1)))
    (name,) = [name for name in await world.rows(Name) if name.text == "辞职"]
    assert not name.confidential, "once it is spoken of openly"


async def test_names_of_earlier_versions_are_kept_that_only_a_confidence_uses(tmp_path):
    """Made as they were: neither names nor mentions knew of confidences."""
    async with living(tmp_path) as world:
        await world.say(zhang, "我下周要辞职，这件事别告诉别人")
        await world.say(zhang, "我喜欢爬山")
        facts = said("U1", "plans", "辞职", "张三下周要辞职", 1)
        await world.learn(answer(facts, said("U1", "likes", "爬山", "张三喜欢爬山", 2)))
    with closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as db:
        db.execute("UPDATE row SET data = json_remove(data, '$.confidential')")
        db.execute("DELETE FROM migration WHERE name = '0011_names'")
        db.commit()
    async with living(tmp_path) as world:
        names = {name.text: name.confidential for name in await world.rows(Name)}
        assert (names["辞职"], names["爬山"]) == (True, False)
        mentions = {each.entity: each.confidential for each in await world.rows(Mention)}
        assert sorted(mentions.values()) == [False, True]
