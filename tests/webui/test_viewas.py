"""Looking through somebody's eyes: the page and the API."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .browsing import HOSTILE, see
from .conftest import BULK
from .story import LI, MALLORY, MING, XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
GROUP = "aiocqhttp:group:88001"
FACTS = 60 + BULK


async def ask(owner: httpx.AsyncClient, what: str, **query: Any) -> dict[str, Any]:
    answer = await owner.get(f"/api/v1/viewas/{what}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def statements(page: dict[str, Any]) -> set[str]:
    return {item["fact"]["statement"] for item in page["items"]}


async def test_seen_and_hidden_are_everything(owner: httpx.AsyncClient) -> None:
    for eyes in (
        {"user": ZHANG, "persona": "tech_assistant"},
        {"user": LI, "group": GROUP, "persona": "tech_assistant"},
        {"group": GROUP, "persona": "life_advisor"},
        {"user": MING, "persona": "~"},
    ):
        seen, hidden = await ask(owner, "facts", **eyes), await ask(owner, "hidden", **eyes)
        assert seen["total"] + hidden["total"] == FACTS
        assert sum(seen["standings"].values()) == seen["total"]
        assert sum(hidden["barriers"].values()) == hidden["total"]


async def test_a_group_is_its_own_audience(owner: httpx.AsyncClient) -> None:
    eyes = {"group": GROUP, "persona": "tech_assistant"}
    seen = await ask(owner, "facts", limit=200, **eyes)
    assert {item["fact"]["chat"] for item in seen["items"]} == {GROUP}
    hidden = await ask(owner, "hidden", limit=200, **eyes)
    assert hidden["barriers"] == {"audience": FACTS - seen["total"], "absent": 0, "persona": 0}


async def test_another_persona_knows_the_person_but_not_the_cat(owner: httpx.AsyncClient) -> None:
    eyes = {"user": ZHANG, "persona": "tech_assistant", "limit": 200}
    assert "张三养了一只叫年糕的橘猫" in statements(await ask(owner, "facts", **eyes))
    kept = await ask(owner, "hidden", barrier="persona", **eyes)
    assert "年糕喜欢吃鸡肉冻干" in statements(kept)
    assert {item["barrier"] for item in kept["items"]} == {"persona"}
    stranger = await ask(owner, "facts", user=ZHANG, persona="~", limit=200)
    assert "张三养了一只叫年糕的橘猫" in statements(stranger)
    assert "年糕喜欢吃鸡肉冻干" not in statements(stranger)


async def test_the_past_is_what_was_known_and_true(owner: httpx.AsyncClient) -> None:
    eyes = {"user": ZHANG, "persona": "tech_assistant", "limit": 200}
    now = await ask(owner, "facts", standing="true", **eyes)
    then = await ask(owner, "facts", standing="true", day="2025-09-01", **eyes)
    assert "张三住在上海，今年春天刚搬过去" in statements(now)
    assert "张三住在北京" not in statements(now)
    assert "张三住在北京" in statements(then)
    assert "张三住在上海，今年春天刚搬过去" not in statements(then)
    assert then["unknown"] > 0
    assert (await ask(owner, "facts", day="2001-01-01", **eyes))["total"] == 0


async def test_pages_lead_through_all(owner: httpx.AsyncClient) -> None:
    eyes: dict[str, Any] = {"user": ZHANG, "persona": "tech_assistant", "limit": 50}
    found: list[str] = []
    cursor = "o0"
    while cursor:
        page = await ask(owner, "facts", cursor=cursor, **eyes)
        found += [item["fact"]["id"] for item in page["items"]]
        cursor = page["next"]
    assert len(found) == len(set(found)) == page["total"]


async def test_a_question_is_asked_twice(owner: httpx.AsyncClient) -> None:
    told = await ask(owner, "recall", user=MING, persona="[%None]", q="张三的猫叫什么名字？")
    assert "年糕" not in told["block"]
    assert any("年糕" in kept["text"] for kept in told["kept"])
    assert {kept["barrier"] for kept in told["kept"]} <= {"audience", "absent", "persona"}
    own = await ask(owner, "recall", user=ZHANG, persona="life_advisor", q="我的猫叫什么名字？")
    assert "年糕" in own["block"]


async def test_the_page_shows_both_sides(owner: httpx.AsyncClient) -> None:
    page = await see(
        owner, "/viewas", user=LI, group=GROUP, persona="tech_assistant", q="张三养了什么猫"
    )
    chosen = {tag["value"] for tag in page.tags_selected()}
    assert {LI, GROUP, "tech_assistant"} <= chosen
    assert "看得见 16" in page.text
    assert f"看不见 {FACTS - 16}" in page.text
    assert "现在问这一句，会想起" in page.text
    assert "张三养了一只叫年糕的橘猫" in page.text  # on the side of what is kept
    (slider,) = page.all("input", type="range")
    assert slider["value"] == slider["max"]
    past = await see(owner, "/viewas", user=ZHANG, persona="tech_assistant", day="2025-01-01")
    (slider,) = past.all("input", type="range")
    assert 0 < int(slider["value"]) < int(slider["max"])
    assert "条那时还不知道" in past.text


async def test_somebody_to_begin_with_and_nobody_in_private(owner: httpx.AsyncClient) -> None:
    first = await see(owner, "/viewas")
    assert "看得见" in first.text
    nobody = await see(owner, "/viewas", user="~", persona="tech_assistant")
    assert "私聊里总有一个人在说话" in nobody.text
    assert not nobody.all("input", type="range")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/viewas?day=2025-13-01", 422), ("/viewas?seen=x", 422), ("/viewas?standing=no", 422),
        ("/viewas?user=nobody-knows&persona=x", 200), ("/viewas?day=9999-12-31", 200),
        ("/viewas?user=a&day=0001-01-01", 200), ("/viewas?seen=o999999999", 200),
        ("/api/v1/viewas/facts?persona=x", 404), ("/api/v1/viewas/recall?user=a&q=", 422),
        ("/api/v1/viewas/facts?user=a&cursor=5", 422), ("/api/v1/viewas/hidden?user=a&day=x", 422),
    ],
)  # fmt: skip
async def test_odd_eyes(owner: httpx.AsyncClient, path: str, status: int) -> None:
    assert (await owner.get(path)).status_code == status


async def test_hostile_eyes_see_text(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/viewas", user=MALLORY, group=HOSTILE.circle, persona=XSS[1], q=XSS[3])
    assert page.alive() == []
    assert {text for text in XSS if text in page.text} >= set(XSS[1:4])
