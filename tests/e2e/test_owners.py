"""What owners of public bots set: circles of groups, a reranker, words to the learner, dates.

One AstrBot for all; the last scene changes its settings and lets days pass.
"""

import html
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from tests.test_mcp_server import by_http

from .extractor import is_extraction
from .harness import RERANK_PROVIDER_ID, Failure
from .world import PLUGIN, World, injected, living

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

KEY = "the-owners-key"
NOTE = "这里是棋社：棋力要记，八卦别记"
DAYS = 9 * 86_400


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """How many seconds later it is in AstrBot."""
    path = tmp_path_factory.mktemp("clock") / "later"
    path.write_text("0")
    return path


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def owned(clock: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = {
        "webui_key": KEY, "memory_spaces": ["5071,5072"], "rerank_provider_id": RERANK_PROVIDER_ID,
        "learning_note": NOTE, "extra_relations": ["mentor|师父|teacher"],
        "mcp_asker": "aiocqhttp:676",
    }  # fmt: skip
    env = {"HARNESS_CLOCK": str(clock)}
    async with living(tmp_path_factory.mktemp("owned"), settings=settings, env=env) as world:
        await world.ready()
        yield world


async def told_in(world: World, group: int, account: int, words: str) -> str:
    return await world.qq.ask_group(group, account, f"/memory search {words}", at_bot=False)


async def fact_page(see: Callable[[str], Awaitable[str]], statement: str) -> str:
    (id,) = set(re.findall(r"/memories/(f(?::|%3A)\w+)", await see(f"/memories?q={statement}")))
    return await see(f"/memories/{id}")


async def number_of(world: World, account: int, words: str) -> str:
    mine = await world.qq.ask_private(account, "/memory mine")
    return next(line.split(".")[0] for line in mine.splitlines() if words in line)


async def test_groups_of_one_circle_share_their_memory(owned: World) -> None:
    await owned.say_in(5071, 671, "我喜欢围棋", "小弈")
    for group in (5072, 5073):
        await owned.say_in(group, 672, "大家好", "小客")
    await owned.learn()
    assert "小弈喜欢围棋" in injected(await owned.say_in(5072, 672, "小弈喜欢什么棋？"))
    assert "喜欢围棋" not in injected(await owned.say_in(5073, 672, "小弈喜欢什么棋？"))
    async with owned.page(KEY) as see:
        for group, is_told in ((5072, True), (5073, False)):
            assert ("小弈喜欢围棋" in await told_in(owned, group, 672, "围棋")) is is_told
            form = await see("/viewas")
            (circle,) = re.findall(rf'value="([^"]*\b{group}\b[^"]*)"', form)
            persona = re.findall(r'name="persona"[^>]*>\s*<option value="([^"]+)"', form)[0]
            chosen = urlencode({"user": "aiocqhttp:672", "group": circle, "persona": persona})
            seen, hidden = (await see(f"/viewas?{chosen}")).split('id="hidden"')
            assert ("小弈喜欢围棋" in seen, "小弈喜欢围棋" in hidden) == (is_told, not is_told)


@pytest.mark.host
async def test_the_reranker_puts_in_order(owned: World) -> None:
    for said in ("我对花生过敏", "我喜欢登山", "我擅长摄影", "我喜欢陶艺"):
        await owned.say(673, said, "小排")
    await owned.learn()
    for best, other in (("花生", "陶艺"), ("陶艺", "摄影")):
        owned.llm.relevance = lambda text, best=best: best in text
        await owned.qq.ask_private(673, "/new")
        told = injected(await owned.say(673, "我对花生过敏吗？"))
        lines = [line for line in told.splitlines() if line.startswith("·")]
        assert best in "".join(lines)
        assert other not in "".join(lines)
    async with owned.page(KEY) as see:
        assert "重排" in await see("/why")
    owned.llm.relevance = Failure(500, "no order today")
    await owned.qq.ask_private(673, "/new")
    assert "对花生过敏" in injected(await owned.say(673, "我对花生过敏吧？"))
    assert "recall is not reranked" in owned.bot.log


async def test_a_program_asks_for_one_person(owned: World) -> None:
    await owned.say(676, "我养了一只刺猬", "小机")
    await owned.say(677, "我养了一只仓鼠", "小外")
    async with by_http(f"http://127.0.0.1:{owned.web_port}/mcp", KEY) as session:
        for animal, is_told in (("刺猬", True), ("仓鼠", False)):
            found = await session.call_tool("memory_recall", {"query": animal})
            assert (animal in str(found.content)) is is_told
        await session.call_tool("memory_remember", {"text": "我对芒果过敏"})
    assert "芒果" in injected(await owned.say(676, "我对什么水果过敏？"))


async def test_the_learner_goes_by_the_owners_words(owned: World) -> None:
    for account, said, name, called in (
        (674, "我的师父是周老", "小徒", "mentor=师父"),
        (675, "my mentor is Joe", "Ann", "mentor=teacher"),
    ):
        await owned.say(account, said, name)
        await owned.learn()
        asked = next(call for call in reversed(owned.llm.calls) if is_extraction(call))
        assert NOTE in asked.system
        assert called in asked.system
    assert "周老" in injected(await owned.say(674, "我的师父是谁？"))
    async with owned.page(KEY) as see:
        assert '<span class="predicate">师父</span>' in await fact_page(see, "小徒的师父是周老")
        (names,) = re.findall(r"data-predicates='(.*?)'", await see("/graph"))
        assert json.loads(html.unescape(names))["mentor"] == "师父"
    await owned.qq.ask_private(674, "/memory export")
    (exported,) = (await owned.qq.next_message(user_id=674)).files
    assert "师父" in [json.loads(line).get("relation") for line in exported.splitlines()]


async def test_later_in_english_and_without_circles(owned: World, clock: Path) -> None:
    await owned.say_in(5071, 678, "我喜欢冰球", "小期")
    await owned.say(678, "我喜欢滑雪，my mentor is Kim")
    await owned.say_in(5072, 679, "大家好", "小客")
    await owned.learn()
    assert "喜欢冰球" in await told_in(owned, 5072, 679, "冰球")
    hockey = await number_of(owned, 678, "冰球")
    told = await owned.qq.ask_private(678, f"/memory forget {hockey} 这周")
    assert re.search(r"过了 \d{4}-\d\d-\d\d 就忘掉：“小期喜欢冰球”", told)
    async with owned.page(KEY) as see:
        assert "到期忘掉" in await fact_page(see, "小期喜欢冰球")
    clock.write_text(str(DAYS))
    await owned.bot.save_plugin_config(PLUGIN, {"language": "en", "memory_spaces": []})
    await owned.tells(678, "/memory mine", of="滑雪", but="冰球")
    assert "forgotten on its date" in await owned.qq.ask_private(678, "/memory undo")
    assert "冰球" in await owned.qq.ask_private(678, "/memory mine")
    skiing = await number_of(owned, 678, "滑雪")
    told = await owned.qq.ask_private(678, f"/memory forget {skiing} tomorrow")
    assert re.search(r"after \d{4}-\d\d-\d\d I forget “小期喜欢滑雪”", told)
    async with owned.page(KEY) as see:
        assert "Forgotten after" in await fact_page(see, "小期喜欢滑雪")
        teaching = await fact_page(see, "小期's mentor is Kim")
        assert '<span class="predicate">teacher</span>' in teaching
    assert "喜欢冰球" not in await told_in(owned, 5072, 679, "冰球"), "the circle was taken back"
