"""Looking at pages and pressing their buttons, as a browser without scripts would."""

from typing import Any

import httpx

from graph_memory.model import session_of

from .conftest import BASE
from .markup import Markup
from .story import XSS

OURS = {"Origin": BASE}
PRIVATE = session_of("aiocqhttp", "", "10001", "tech_assistant")
LIFE = session_of("aiocqhttp", "", "10001", "life_advisor")
HOSTILE = session_of("aiocqhttp", "99<b>9", "666", XSS[1])


async def see(browser: httpx.AsyncClient, path: str, status: int = 200, **query: Any) -> Markup:
    answer = await browser.get(path, params=query or None)
    assert answer.status_code == status, answer.text
    return Markup(answer.text)


async def send(
    browser: httpx.AsyncClient, path: str, status: int = 303, **fields: Any
) -> httpx.Response:
    """Send a form as a page of ours would; a field may have several values."""
    page = await see(browser, "/nowhere", 404)  # the smallest page of ours that has the token
    (token,) = {tag["value"] for tag in page.all("input", name="csrf")}
    answer = await browser.post(path, data={"csrf": token, **fields}, headers=OURS)
    assert answer.status_code == status, answer.text
    return answer


async def press(browser: httpx.AsyncClient, path: str, **fields: Any) -> Markup:
    """Send a form and go where it leads."""
    return await see(browser, (await send(browser, path, **fields)).headers["location"])


async def undo(browser: httpx.AsyncClient, done: Markup) -> Markup:
    """Press the undo button of what was just done."""
    toast = next(n for n, (tag, has) in enumerate(done.tags) if has.get("class") == "done")
    after = Markup("")
    after.tags = done.tags[toast:]
    (action,) = [tag["action"] for tag in after.all("form")]
    (back,) = [tag["value"] for tag in after.all("input", name="back")]
    return await press(browser, action, back=back)


def statements(page: Markup) -> list[str]:
    """Addresses of the memories in the table."""
    return [tag["href"] for tag in page.all("a", **{"class": "row-link"})]
