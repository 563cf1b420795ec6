"""Conversations, their summaries, a message in context, and the change log."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from graph_memory.model import Episode, Message
from graph_memory.service import MemoryService
from graph_memory.store import Draft

from .browsing import PRIVATE, see
from .story import ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")


def records(page: object) -> list[str]:
    return [tag["href"] for tag in page.all("a", **{"class": "record-link"})]  # type: ignore[attr-defined]


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
    try:
        page = await see(owner, "/records", level="week")
        assert "一周都在加班" in page.text
        opened = await see(owner, records(page)[0])
        assert "由 1 段汇成" in opened.text
        assert records(opened) == [f"/records/{told.id.replace(':', '%3A')}"]
    finally:
        await service.library.undo(change.id, "owner")
    assert isinstance(told, Episode)


async def test_growth_is_counted_by_day(service: MemoryService) -> None:
    days = await service.conversations.growth(60)
    assert len(days) == 60
    assert str(days[-1].day) == "2025-10-09"
    assert sum(day.facts for day in days) == 29
    said = next(day for day in days if str(day.day) == "2025-10-07")
    assert (said.facts, said.messages) == (1, 1)


async def test_what_is_said_after_midnight_counts_for_the_day_that_begins(own, monkeypatch):
    """Also where midnight is at half past an hour elsewhere."""
    india = ZoneInfo("Asia/Kolkata")
    midnight = datetime(2025, 10, 9, tzinfo=india).timestamp()
    monkeypatch.setattr(own.conversations, "_zone", india)
    before = (await own.conversations.growth(1))[0].messages
    await own.journal.append(
        Message(0, PRIVATE.id, ZHANG, "张三", "睡不着", midnight + 600), PRIVATE
    )
    assert (await own.conversations.growth(1))[0].messages == before + 1


async def test_the_log_is_paged_and_leaves_out_what_nobody_did(service: MemoryService) -> None:
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
    assert (await service.conversations.changes("", "learned", None)).items[-1].rows["fact"] > 10
