"""Histories that come in and memories that are taken away, in a running AstrBot."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from .harness import ADMIN_ID, wait_until
from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def remember_a_year(world: World, account: int, special: str) -> None:
    """Give AstrBot a year of conversations with somebody, as it would have kept them."""
    umo = world.qq.umo(user_id=account)
    start = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=365)
    with closing(sqlite3.connect(world.bot.data_dir / "data_v4.db", timeout=30)) as db:
        for month in range(12):
            since = start + timedelta(days=30 * month)
            turns = []
            for number in range(40):
                asked = special if (month, number) == (3, 20) else f"{month}月的第{number}句闲话"
                turns.append({"role": "user", "content": asked})
                turns.append({"role": "assistant", "content": "嗯，我知道了"})
            db.execute(
                "INSERT INTO conversations (conversation_id, platform_id, user_id, content,"
                " token_usage, created_at, updated_at) VALUES (?, ?, ?, ?, 0, ?, ?)",
                (
                    *(str(uuid4()), umo.partition(":")[0], umo, json.dumps(turns)),
                    *(str(since), str(since + timedelta(days=29))),
                ),
            )
        db.commit()


async def test_a_year_of_history_answers_the_same_minute(world: World) -> None:
    account = 961
    await world.qq.ask_private(account, "你好", "小许")
    remember_a_year(world, account, "我家的鹦鹉叫阿福，最会学手机铃声")
    shown = await world.qq.ask_private(ADMIN_ID, "/memory import astrbot")
    assert "AstrBot 对话历史" in shown
    assert "还没有写入" in shown
    assert "鹦鹉" not in injected(await world.say(account, "我家的鹦鹉叫什么名字？"))
    done = await world.qq.ask_private(ADMIN_ID, "/memory import 确认", timeout=60)
    assert "已导入" in done
    assert "阿福" in injected(await world.say(account, "我家的鹦鹉叫什么名字？"))
    # Nobody else is told, and a second time nothing comes in.
    assert "阿福" not in injected(await world.say(962, "鹦鹉叫什么名字？", "小施"))
    await world.qq.ask_private(ADMIN_ID, "/memory import astrbot")
    again = await world.qq.ask_private(ADMIN_ID, "/memory import 确认", timeout=60)
    # All that is new is what AstrBot has kept of this scene meanwhile, if anything.
    assert "没有改动" in again or int(again.split()[2]) < 50


async def test_a_group_that_was_heard_does_not_come_again_as_nobodys(world: World) -> None:
    line = "下次读书会读的是《呼兰河传》"
    await world.say_in(4961, 966, line, "书虫")
    umo = world.qq.umo(group_id=4961)

    async def is_kept() -> bool:
        rows = await world.bot.conversations(umo)
        turns = [turn for row in rows for turn in await world.bot.history(umo, row["cid"])]
        return line in json.dumps(turns, ensure_ascii=False)

    await wait_until(is_kept, 20, "AstrBot's history")
    await world.qq.ask_private(ADMIN_ID, "/memory import astrbot")
    await world.qq.ask_private(ADMIN_ID, "/memory import 确认", timeout=60)
    path = (world.data / "journal.sqlite3").as_uri()
    with closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as db:
        found = db.execute("SELECT sender, count(*) FROM message WHERE text = ?", (line,))
        assert found.fetchall() == [("aiocqhttp:966", 1)]
        nobodys = "SELECT * FROM message WHERE sender LIKE '%:?' AND session LIKE '%:4961#%'"
        assert db.execute(nobodys).fetchall() == []


@pytest.mark.host
async def test_everybody_takes_their_own_away(world: World) -> None:
    await world.say(963, "我的口琴是外公送的", "小尤")
    answer = await world.qq.ask_private(963, "/memory export")
    assert "口琴" in answer or "全部记忆" in answer
    assert "权限" in await world.qq.ask_private(963, "/memory import astrbot")
    told = await world.qq.ask_private(ADMIN_ID, "/memory export all")
    assert "已导出" in told
    (path,) = (world.data / "exports").glob("everything-*.jsonl")
    assert "口琴" in path.read_text(encoding="utf-8")
