"""Histories that come in and memories that are taken away, in a running AstrBot."""

import json

import pytest

from .harness import ADMIN_ID, wait_until
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_a_group_that_was_heard_does_not_come_again_as_nobodys(world: World) -> None:
    line = "下次读书会读的是《呼兰河传》"
    await world.say_in(4961, 966, line, "书虫")
    umo = world.qq.umo(group_id=4961)

    async def is_kept() -> bool:
        return line in json.dumps(await world.turns(umo), ensure_ascii=False)

    await wait_until(is_kept, 20, "AstrBot's history")
    await world.qq.ask_private(ADMIN_ID, "/memory import astrbot")
    await world.qq.ask_private(ADMIN_ID, "/memory import 确认", timeout=60)
    found = world.journal("SELECT sender, count(*) FROM message WHERE text = ?", line)
    assert found == [("aiocqhttp:966", 1)]
    nobodys = "SELECT * FROM message WHERE sender LIKE '%:?' AND session LIKE '%:4961#%'"
    assert world.journal(nobodys) == []


@pytest.mark.host
async def test_everybody_takes_their_own_away(world: World) -> None:
    await world.say(963, "我的口琴是外公送的", "小尤")
    answer = await world.qq.ask_private(963, "/memory export")
    assert "口琴" in answer or "全部记忆" in answer
    assert "权限" in await world.qq.ask_private(963, "/memory import astrbot")
    assert "已导出" in await world.qq.ask_private(ADMIN_ID, "/memory export all")
    *_, path = sorted((world.data / "exports").glob("everything-*.jsonl"))
    assert "口琴" in path.read_text(encoding="utf-8")
