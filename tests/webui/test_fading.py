"""The fading page: what would fade under other settings, and keeping them."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
import pytest_asyncio

from graph_memory.errors import SettingError
from graph_memory.service import MemoryService

from .browsing import press, see, send
from .conftest import application, entered

pytestmark = pytest.mark.asyncio(loop_scope="package")


class Keeper:
    """Keeps settings as AstrBot would, or cannot."""

    def __init__(self, memory: MemoryService) -> None:
        self.memory = memory
        self.kept: list[dict[str, Any]] = []
        self.is_broken = False

    async def __call__(self, values: Mapping[str, Any]) -> None:
        if self.is_broken:
            raise SettingError("prune_interval", "could not be saved").told("unsaved")
        self.kept.append(dict(values))
        self.memory.retune(**values)


@pytest.fixture
def keeper(own: MemoryService) -> Keeper:
    return Keeper(own)


@pytest_asyncio.fixture(loop_scope="package")
async def browser(keeper: Keeper) -> AsyncIterator[httpx.AsyncClient]:
    async with entered(application(keeper.memory, tune=keeper)) as found:
        yield found


async def test_the_overview_goes_by_the_settings_that_are_kept(browser):
    faint = r"(\d+)% 不到两成"
    before = re.search(faint, (await see(browser, "/")).text)
    await press(browser, "/tuning", rate="100", threshold="0.25", interval="12")
    after = re.search(faint, (await see(browser, "/")).text)
    assert int(before[1]) < 50 < int(after[1])


async def test_settings_are_kept_used_and_taken_back(keeper, browser):
    done = await press(browser, "/tuning", rate="20", threshold="0.5", interval="12")
    assert keeper.kept == [
        {"time_decay_rate": 20.0, "min_importance_threshold": 0.5, "prune_interval": 12}
    ]
    assert "设置已保存并生效" in done.text
    assert keeper.memory.settings.time_decay_rate == 20.0
    (faded,) = await keeper.memory.upkeep.preview(days=(0,), limit=3)
    assert faded.total > 0
    assert "正在用 20" in done.text
    place = next(n for n, (tag, has) in enumerate(done.tags) if has.get("class") == "notice tuned")
    former = {
        has["name"]: has["value"] for tag, has in done.tags[place : place + 6] if tag == "input"
    }
    former.pop("csrf")
    again = await press(browser, "/tuning", **former)
    assert "正在用 1 " in again.text
    assert keeper.kept[-1] == {
        "time_decay_rate": 1.0, "min_importance_threshold": 0.25, "prune_interval": 24,
    }  # fmt: skip


async def test_what_cannot_be_used_is_not_kept(keeper: Keeper, browser: httpx.AsyncClient) -> None:
    for wrong in (
        {"rate": "-1"}, {"threshold": "0.95"}, {"interval": "1.5"}, {"rate": "nan"},
        {"rate": "inf"}, {},
    ):  # fmt: skip
        await send(browser, "/tuning", 422, **wrong)
    assert keeper.kept == []
    page = await see(browser, "/tuning", rate="fast")
    assert "这个值不能用" in page.text
    (field,) = page.all("input", name="rate", type="number")
    assert (field["value"], field["aria-invalid"]) == ("fast", "true")
    keeper.is_broken = True
    assert "没有做成：AstrBot 存不下设置" in (await press(browser, "/tuning", rate="2")).text
    assert keeper.memory.settings.time_decay_rate == 1.0
