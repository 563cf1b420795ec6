"""What is said again in other words is offered to the model: words alone do not find it."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.inference import Embedder
from graph_memory.learning.prompt import ContextBuilder, ranked
from graph_memory.model import Entity, Fact, Turn
from graph_memory.service import MemoryService

from ..makers import HOME, T0, ZHANG, entity, fact, name, private, put
from ..scripted import ScriptedModel
from ..waiting import until
from ..world import opened
from .chat import Chat

OLD = ["张三爱吃辣", "张三每天早上跑步", "张三害怕坐飞机", "张三在一家银行上班", "张三养了一只猫"]
"""Said first, so that sixty newer facts stand before them."""
AGAIN = {
    "我这个人无辣不欢": "张三爱吃辣",
    "航班一颠簸我就腿软": "张三害怕坐飞机",
    "我家喵星人又拆沙发了": "张三养了一只猫",
    "天不亮就出门晨练五公里": "张三每天早上跑步",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(
    tmp_path_factory: pytest.TempPathFactory, bundled: Embedder
) -> AsyncIterator[MemoryService]:
    directory: Path = tmp_path_factory.mktemp("memory")
    async with opened(directory, now=lambda: T0 + 90000, model=ScriptedModel()) as memory:
        memory.use_embedder(partial(asyncio.sleep, 0, bundled))
        items = [f"第{n}号展品是{thing}" for n in range(12) for thing in "灯椅钟画瓶".strip()]
        said = [*OLD, *(f"张三收藏的{item}，放在书房" for item in items)]
        rows: list[object] = [HOME, name(HOME, ZHANG, "张三")]
        for number, statement in enumerate(said):
            about = entity(statement)
            rows += [Entity(about), fact(HOME, ZHANG, about, statement, at=T0 + number)]
        await put(memory.journal, *rows)
        yield memory


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("text", "statement"), AGAIN.items())
async def test_a_paraphrase_brings_up_what_is_known(memory, text, statement):
    chat = Chat(memory.journal, HOME)
    chat.at = T0 + 80_000
    await chat.say("zhang", text, "张三")
    batch = await chat.claim()
    await until(lambda: not memory.is_loading)

    def gather(rows):
        return ContextBuilder(chat.context.learnable(rows, HOME), batch)

    plain, found, again = [await memory.journal.read(gather) for _ in range(3)]
    ids = [fact.id for fact in plain.facts]
    assert len(ids) == 65
    likeness = await memory.recall.likeness([m.id for m in batch.messages], ids)
    assert set(likeness) == set(ids)
    plain, found, again = plain.fill({}), found.fill(likeness), again.fill(likeness)
    # What is last may be there because it was short enough for the room that was left.
    assert statement not in [f.statement for f in plain.facts.values()][:5]
    assert statement in [f.statement for f in found.facts.values()][:5]
    assert found == again


@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_unseen_is_ranked(memory: MemoryService) -> None:
    """What the index knows besides the candidates is not asked for."""
    assert await memory.recall.likeness([1], ["nothing"]) == {}
    assert await memory.recall.likeness([], []) == {}
    assert await memory.recall.likeness([4711], ["nothing"]) == {}


@pytest.mark.asyncio(loop_scope="module")
async def test_the_learner_ranks_with_the_vectors_of_the_index(memory: MemoryService) -> None:
    """In a Session of its own: what was offered in vain in one is offered there less."""
    text, elsewhere = "吃面不放辣椒我就没胃口", private("zhang", "ruo")
    await memory.learning.hear(Turn(elsewhere, ZHANG, "张三", text), at=T0 + 89_990)
    await memory.learning.flush()
    model = memory.learning._extractor._model._model  # type: ignore[union-attr]
    (prompt,) = [call.prompt for call in model.calls if text in call.prompt]
    assert "张三爱吃辣" in prompt


def test_words_and_likeness_are_fused_by_place() -> None:
    facts = [fact(HOME, ZHANG, f"e:{n}", f"张三说的第{n}句", at=T0 - n) for n in range(30)]
    ends = {one.id: {one.subject, one.object} for one in facts}
    assert ranked(facts, ends, ["无关"], {}, {}) == facts
    likeness = {one.id: float(number) for number, one in enumerate(facts)}
    fused: list[Fact] = ranked(facts, ends, ["无关"], {}, likeness)
    assert {facts[0].id, facts[-1].id} == {one.id for one in fused[:2]}
    assert sorted(f.id for f in fused) == sorted(f.id for f in facts)
    one = {facts[20].id: 0.9}
    assert ranked(facts, ends, ["无关"], {}, one)[0] == facts[20]
