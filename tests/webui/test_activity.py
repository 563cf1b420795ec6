"""Conversations, their summaries, a message in context, and the change log."""

from dataclasses import replace

import httpx
import pytest

from graph_memory.model import Episode
from graph_memory.service import MemoryService
from graph_memory.store import Draft

from .browsing import PRIVATE, press, see, statements, undo

pytestmark = pytest.mark.asyncio(loop_scope="package")


def records(page: object) -> list[str]:
    return [tag["href"] for tag in page.all("a", **{"class": "record-link"})]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 5),
        ({"chat": "aiocqhttp:group:88001"}, 1),
        ({"persona": "tech_assistant"}, 2),
        ({"level": "episode"}, 5),
        ({"level": "week"}, 0),
        ({"told": "yes", "since": "2025-03-03", "until": "2025-03-03"}, 1),
    ],
)
async def test_records_are_filtered(owner, query, count):
    page = await see(owner, "/records", **query)
    assert len(records(page)) == count


async def test_a_record_opens_to_the_very_words_and_what_they_taught(owner):
    page = await see(owner, records(await see(owner, "/records", chat="aiocqhttp:group:88001"))[0])
    assert "原文，16 条" in page.text
    assert "我膝盖不行，得带登山杖 李四膝盖有旧伤，下山要用登山杖" in page.text
    assert "李四" in page.text


async def test_a_summary_opens_to_what_it_sums_up(owner, service):
    (told,) = [
        record.episode
        for record in (await service.conversations.browse()).items
        if record.session.id == PRIVATE.id
    ]
    week = replace(
        told, id="ep:week", level="week", summary="一周都在加班", parts=(told.id, "gone")
    )
    change = await service.journal.commit(lambda _: Draft("upkeep", "records", put=[week]))
    assert change is not None
    try:
        page = await see(owner, "/records", level="week")
        assert "一周都在加班" in page.text
        opened = await see(owner, records(page)[0])
        assert "由 1 段汇成" in opened.text
        assert records(opened) == [f"/records/{told.id.replace(':', '%3A')}"]
    finally:
        await service.library.undo(change.id, "owner")
    assert isinstance(told, Episode)


async def test_what_is_not_recorded_is_said(owner: httpx.AsyncClient) -> None:
    await see(owner, "/records/ep:no", 404)
    await see(owner, "/messages/999999", 404)
    await see(owner, "/messages/0", 422)
    assert "没有符合条件的记录" in (await see(owner, "/records", level="year")).text


async def test_a_message_is_shown_in_its_conversation(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/messages/5", near=2)
    assert len(page.all("blockquote")) == 5
    assert len(page.all("blockquote", **{"class": "said said-here"})) == 1
    assert len((await see(owner, "/messages/1", near=2)).all("blockquote")) == 3
    assert "显示更多前后文" in page.text
    whole = await see(owner, "/messages/5", near=96)
    assert "显示更多前后文" not in whole.text


async def test_growth_is_counted_by_day(service: MemoryService) -> None:
    days = await service.conversations.growth(60)
    assert len(days) == 60
    assert str(days[-1].day) == "2025-10-09"
    assert sum(day.facts for day in days) == 29
    said = next(day for day in days if str(day.day) == "2025-10-07")
    assert (said.facts, said.messages) == (1, 1)


# ------------------------------------------------------------------ change log


async def test_the_log_says_what_was_done_and_takes_it_back(owner, service):
    one, other = (line.fact for line in (await service.library.browse()).items[:2])
    change = await service.library.act("pin", [one.id, other.id], "owner")
    log = await see(owner, "/changes", actor="owner")
    labels = [tag.get("aria-label", "") for tag in log.all("button")]
    (label,) = [each for each in labels if each.startswith(f"撤销第 {change.id} 次更改")]
    words = label.partition(": ")[2]
    assert words in (one.statement, other.statement)
    assert f"{words} 另有 1 条" in log.text
    one = await see(owner, f"/changes/{change.id}")
    assert "置顶" in one.text
    assert "pinned False True" in one.text
    done = await press(owner, f"/changes/{change.id}/undo", back="/changes")
    assert "已撤销" in done.text
    assert f"撤销第 {change.id} 次" in done.text
    again = await press(owner, f"/changes/{change.id}/undo", back="/changes")
    assert "已经撤销过" in again.text


async def test_the_log_is_paged_and_leaves_out_what_nobody_did(owner, service):
    seen: list[int] = []
    place = None
    for _ in range(40):
        page = await service.conversations.changes("", "", place, 3)
        seen += [entry.id for entry in page.items]
        assert not [e for e in page.items if (e.actor, e.reason) == ("chat", "session")]
        place = page.next
        if place is None:
            break
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == page.total
    learned = await service.conversations.changes("", "learned", None)
    assert learned.items[-1].rows["fact"] > 10
    assert "没有更改" in (await see(owner, "/changes", reason="nothing")).text
    await see(owner, "/changes/999999", 404)


async def test_an_undo_leads_back_to_where_it_was_pressed(owner: httpx.AsyncClient) -> None:
    id = statements(await see(owner, "/memories"))[0].removeprefix("/memories/")
    back = "/memories?sort=said"
    done = await press(owner, "/memories/act", only=f"pin {id}", back=back)
    assert "最近说起" in (await undo(owner, done)).text
