"""The companion in a real AstrBot: records, sense of time, core facts and mood.

The days between two talks are made by aging the journal while the plugin is switched off.
"""

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest
import pytest_asyncio

from .extractor import TOOL, claims, is_extraction
from .harness import ChatCall, ToolCall
from .world import World, injected, living

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

HOUR = 3_600.0
PARTS = ["records", "metadata", "core_facts", "mood"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def companion(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("companion"), settings={"companion": PARTS}) as world:
        await world.ready()
        yield world


def script(world: World) -> None:
    """A model that learns, keeps in mind what people like, and feels some way about it."""

    def learn(call: ChatCall) -> ToolCall:
        given = claims(call)
        given["worth"] = True
        given["mood"] = {"valence": 0.3, "arousal": 0.3}
        given["core"] = [
            {"type": "fact", "text": fact["statement"], "about": fact["subject"],
             "evidence": fact["evidence"]}
            for fact in given["facts"]
        ]  # fmt: skip
        return ToolCall(TOOL, given)

    world.llm.reset()
    world.llm.when(is_extraction, learn)


def look_up(world: World, asked: str, keyword: str) -> None:
    """Let the model search for words when it is asked, and open the record it finds."""

    def is_asked(call: ChatCall) -> bool:
        return asked in call.last_user_parts[0]

    def open_it(call: ChatCall) -> ToolCall:
        found = re.search(r"\[(m:[0-9a-f]+)\]", call.tool_results[0])
        return ToolCall("open_record", {"id": found[1] if found else "m:none"})

    search = ToolCall("search_history", {"keyword": keyword})
    world.llm.when(lambda call: is_asked(call) and not call.tool_results, search)
    world.llm.when(lambda call: is_asked(call) and len(call.tool_results) == 1, open_it)


async def sleep(world: World, seconds: float) -> None:
    """Let everything that was said be said so much longer ago."""
    async with world.absent():
        with closing(sqlite3.connect(world.data / "journal.sqlite3", isolation_level=None)) as db:
            db.execute("BEGIN")
            db.execute("UPDATE message SET at = at - ?", (seconds,))
            db.execute("UPDATE presence SET since = since - ?", (seconds,))
            for kind, id, text in db.execute("SELECT kind, id, data FROM row").fetchall():
                data = json.dumps(aged(json.loads(text), seconds), ensure_ascii=False)
                db.execute("UPDATE row SET data = ? WHERE kind = ? AND id = ?", (data, kind, id))
            db.execute("COMMIT")
    await world.ready()


def aged(data: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A row as it would be, had it been written earlier."""
    times = {"at", "last_used", "valid_from", "valid_to"}
    return {
        key: value - seconds
        if (key in times or key.endswith("_at")) and value is not None
        else value
        for key, value in data.items()
    }


def records_of(world: World, place: str) -> list[dict[str, Any]]:
    """The episodes of a chat, oldest first."""
    query = "SELECT data FROM row WHERE kind = 'episode' AND session LIKE ?"
    rows = world.journal(query, f"%{place}#%")
    return sorted([json.loads(text) for (text,) in rows], key=lambda row: row["started_at"])


async def test_the_next_day(companion: World) -> None:
    world, group = companion, 5201
    script(world)
    first = await world.say(1201, "我喜欢登山，下周想去华山看日出", "小青")
    assert "第一次在这里聊天" in injected(first)
    assert {"search_history", "open_record"} <= set(first.tool_names)
    await world.say(1201, "我擅长攀岩")
    await world.say_in(group, 1202, "我喜欢放风筝，有风就去公园放", "小白")
    await world.learn()
    assert "烦躁" not in injected(await world.say(1201, "你今天好吗"))

    await sleep(world, 20 * HOUR)
    script(world)
    await world.qq.ask_private(1201, "/new")
    look_up(world, "原话", "日出")
    block = injected(await world.say(1201, "早，还记得我喜欢什么运动吗？说说原话"))
    assert re.search(r"现在 \d{4}-\d\d-\d\d 周. \d\d:\d\d；上次聊天是约 (19|20|21) 小时前", block)
    assert "1. [事实] 小青喜欢登山" in block
    assert "你此刻的心情：" in block
    assert re.search(r"\[m:[0-9a-f]{4}\] \d{4}-\d\d-\d\d \d\d:\d\d 小青喜欢登山", block)
    found, opened = world.asked("说说原话")[-1].tool_results
    assert "〔小青〕我喜欢登山，下周想去华山看日出" in found
    assert "〔小青〕我擅长攀岩" in opened
    assert "现在" not in injected(await world.say(1201, "好的"))

    look_up(world, "那天", "风筝")
    block = injected(await world.say_in(group, 1202, "那天我说要做什么？"))
    assert re.search(r"\[m:[0-9a-f]{4}\] \d{4}-\d\d-\d\d \d\d:\d\d 小白喜欢放风筝", block)
    assert "上次聊天是约" in block
    found, opened = world.asked("那天我说要做什么？")[-1].tool_results
    assert "有风就去公园放" in found
    assert "〔小白〕我喜欢放风筝，有风就去公园放" in opened

    await world.learn()
    for place, count in (("private:1201", 2), (f"group:{group}", 2)):
        closed = records_of(world, place)
        assert len(closed) == count, place
        assert closed[1]["started_at"] - closed[0]["ended_at"] >= 600
