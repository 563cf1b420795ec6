"""A search shows what holds the words, what they fit best first, and what means the same."""

from graph_memory.embedding import load
from graph_memory.model import asker_of

from ..cases import tabled
from ..makers import T0, group, private, user
from .conftest import Memory

HOME, ROOM, MING, MEI = private("ming"), group("9"), user("ming"), user("mei")


async def find(memory: Memory, text: str, session=HOME) -> tuple[list[str], list[str]]:  # type: ignore[no-untyped-def]
    """What holds some words, and what is similar."""
    await memory.recaller.settle()
    found = await memory.recaller.find(asker_of(session, MING), text)
    return [item.text for item in found.items], [item.text for item in found.similar]


async def test_what_was_said_beside_it_is_not_similar(memory: Memory) -> None:
    memory.embedder = await load("bundled")
    await memory.open()
    for number, text in enumerate(("五一想住民宿", "阿弛说的那家", "长凳下面", "诺诺最靠谱")):
        await memory.say(HOME, MING, text, T0 + 20 * number)
    holding, similar = await find(memory, "民宿")
    assert len(holding) == 1
    assert similar == []


@tabled
async def test_what_means_the_same_is(memory: Memory, word: str, said: str, means: str) -> None:
    memory.embedder = await load("bundled")
    await memory.open()
    for number, text in enumerate((said, means, "我没哭，真的", "my back hurts")):
        await memory.say(HOME, MING, text, T0 + 9_000 * number)
    holding, similar = await find(memory, word)
    assert [line.endswith(said) for line in holding] == [True]
    assert [line.endswith(means) for line in similar] == [True]


async def test_what_says_a_name_comes_before_what_its_bearer_says(memory: Memory) -> None:
    await memory.open()
    for number in range(12):
        await memory.say(ROOM, MEI, f"第{number}场我先走啦", T0 + number, name="小美")
    await memory.say(ROOM, MING, "小美下周过生日", T0 - 9_000)
    holding, _ = await find(memory, "小美", ROOM)
    assert "过生日" in holding[0]
    assert len(holding) == 10
