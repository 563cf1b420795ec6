"""Viewing as somebody else, and why a reply knew what it knew."""

import re
from typing import Any

import httpx
import pytest

from graph_memory.errors import GraphError
from graph_memory.service import MemoryService
from webui.pages.inspection import SIGNALS

from .browsing import PRIVATE, see
from .conftest import BULK
from .markup import Markup
from .seed import NOW, fact_id
from .story import LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
GROUP = "aiocqhttp:group:88001"
FACTS = 60 + BULK


def sightings(page: Markup, part: str) -> list[str]:
    """Addresses of the facts in one of the two lists of a page."""
    begin = next(n for n, (tag, has) in enumerate(page.tags) if has.get("id") == part)
    own = Markup("")
    end = next((n for n in range(begin + 1, len(page.tags)) if page.tags[n][0] == "section"), None)
    own.tags = page.tags[begin:end]
    return [tag["href"] for tag in own.all("a", **{"class": "sighting-text"}) if "href" in tag]


async def test_pages_lead_through_all(owner: httpx.AsyncClient) -> None:
    eyes = {"user": ZHANG, "persona": "tech_assistant"}
    found: list[str] = []
    page = await see(owner, "/viewas", **eyes)
    total = int(re.search(r"看得见 (\d+)", page.text)[1])  # type: ignore[index]
    while True:
        found += sightings(page, "seen")
        following = [tag["href"] for tag in page.all("a", rel="next") if "seen=" in tag["href"]]
        if not following:
            break
        page = await see(owner, following[0])
    assert len(found) == len(set(found)) == total


async def test_a_reply_is_explained(own: MemoryService, mine: httpx.AsyncClient) -> None:
    eyes = own.view_as
    await own.recall.remind(eyes.asker(LI, GROUP, "tech_assistant"), "十一月去黄山看日出吗？")
    await own.recall.remind(eyes.asker(ZHANG, "", "tech_assistant"), "我住在哪里？")
    traces = own.recall.traces.recent()
    assert len(traces) == 2
    home = next(trace for trace in traces if trace.asker.user == ZHANG)
    fates = {each.id: each.dropped for each in home.candidates}
    assert fates[fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去")] is None
    assert set(SIGNALS) == set(home.candidates[0].signals)
    page = await see(mine, "/why", chat=home.asker.circle, at=str(NOW))
    assert "我住在哪里？" in page.text
    assert "十一月去黄山看日出吗？" in page.text  # in the list of recent ones
    assert "想起的" in page.text
    assert home.block.split("\n")[0] in page.text
    assert page.all("a", href=f"/memories/{fact_id(PRIVATE, '张三住在上海，今年春天刚搬过去')}")
    assert len(page.all("rect", **{"class": "ink-fill"})) > len(home.candidates)


async def test_what_went_wrong_is_said_in_the_readers_language(own, mine, monkeypatch):
    async def broken(*_: Any, **__: Any) -> None:
        raise GraphError("kaputt")

    monkeypatch.setattr(own.recall, "_recall", broken)
    monkeypatch.setattr(type(own.backups), "problem", "no backup was made: kaputt")
    await own.recall.remind(own.view_as.asker(ZHANG, "", "tech_assistant"), "我住在哪里？")
    pages = [await see(mine, path) for path in ("/why", f"/viewas?user={ZHANG}&q=猫", "/data")]
    assert [text in page.text for page in pages for text in ("详情见日志", "kaputt")] == [
        True, False,
    ] * 3  # fmt: skip
