"""Nothing private slips out when something fails: not into chats, pages, log or journal."""

import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from astrbot.core.log import _LoguruInterceptHandler
from loguru import logger as loguru

from graph_memory.astrbot.log import LogBridge
from graph_memory.astrbot.providers import ProviderModel
from graph_memory.commands.memory_commands import Commands
from graph_memory.errors import EmbeddingError
from graph_memory.inference import Vectors
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.settings import Settings, read
from graph_memory.supervisor import LogOnce

from ..makers import CLUB, admin, private, user
from ..scripted import HashEmbedder, Line, ScriptedModel
from ..webui.conftest import BASE, application, client
from ..world import opened
from .test_providers import Scripted, response

MESSAGE = "我的银行卡密码是998877"
ANSWER = "好的，小吴刚才说的是QUOKKA55"
PROVIDER = "Bad request: prompt was QUETZAL77"
KEY = "page-key-AXOLOTL99"
SECRETS = ("998877", "QUOKKA55", "QUETZAL77", "AXOLOTL99")
HOME, WU = private("wu"), user("wu")
boss_in_club = Turn(CLUB, user("boss"), "老板", is_admin=True)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What AstrBot would write, local variables included."""
    written, target = io.StringIO(), logging.Logger("astrbot-like")
    target.addHandler(_LoguruInterceptHandler())
    sink = loguru.add(written, level="DEBUG", diagnose=True, backtrace=True)
    bridge = LogBridge(target).install()
    yield written
    bridge.remove()
    loguru.remove(sink)


class ProviderError(Exception):
    """Like an SDK's, which quotes the request."""

    status_code = 401


def by_provider(*answers: Any) -> ProviderModel:
    return ProviderModel(Scripted(*answers), Settings())  # type: ignore[arg-type]


def scripted(line: Line) -> ScriptedModel:
    return ScriptedModel([line] * 9)


MODELS = {
    "no_json": lambda: scripted(ANSWER),
    "other": lambda: scripted(ValueError(PROVIDER)),
    "key": lambda: by_provider(*[ProviderError(PROVIDER)] * 9),
    "runaway": lambda: by_provider(*[response(ANSWER * 9_999)] * 9),
}


class Talkative(HashEmbedder):
    """An embedder whose error quotes what it was asked."""

    async def query(self, text: str) -> Vectors:
        raise EmbeddingError("the model failed") from RuntimeError(f"cannot embed {text}")

    async def passages(self, texts: list[str]) -> Vectors:
        raise RuntimeError(f"cannot embed {texts}")


@pytest_asyncio.fixture(params=MODELS)
async def failed(
    request: pytest.FixtureRequest, tmp_path: Path, log: io.StringIO
) -> AsyncIterator[tuple[MemoryService, str]]:
    """A memory whose batch could not be learned, and the kind of failure."""
    model = MODELS[request.param]()
    async with opened(tmp_path, model=model) as memory:
        memory.use_embedder(Talkative.load)
        await memory.learning.hear(Turn(HOME, WU, "小吴", MESSAGE))
        await memory.learning.hear(Turn(HOME, WU, "小吴", "还有一件事"))
        await memory.learning.flush()
        await memory.recall.remind(admin.asker, f"{MESSAGE}吗？")
        yield memory, request.param
    assert_clean(log.getvalue())


def assert_clean(text: str) -> None:
    assert text
    assert not [secret for secret in SECRETS if secret in text], text[:2_000]


async def test_a_failure_is_told_by_its_kind(failed: tuple[MemoryService, str]) -> None:
    memory, kind = failed
    commands = Commands(memory)
    (batch,) = await memory.journal.queue()
    assert batch.error == kind
    told = await commands.flush(boss_in_club)
    assert "第" not in told, "which batches failed in other chats is no business of this one"
    assert_clean(told)
    for text in (
        await commands.flush(admin, "all"),
        await commands.status(admin),
        await commands.doctor(admin),
        await commands.privacy.why(admin),
    ):
        assert_clean(text)
    assert f"第 {batch.id} 批" in await commands.status(admin)


async def test_the_page_tells_it_the_same_way(failed, log):
    memory, _ = failed
    await memory.journal.fail(1, f"as an older version kept it: {MESSAGE}", None)
    app = application(memory, KEY)

    @app.get("/broken")
    async def broken() -> None:
        key, said = KEY, MESSAGE
        raise ValueError(f"{key} {said}")

    async with client(app) as browser:
        login = await browser.post("/login", data={"key": KEY}, headers={"Origin": BASE})
        for path in ("/", "/data", "/broken"):
            assert_clean((await browser.get(path)).text)
    assert login.status_code == 303
    assert "GET /broken failed" in log.getvalue()
    assert "in broken" in log.getvalue(), "where it happened is told"


def test_a_traceback_shows_where_and_no_variables(log: io.StringIO) -> None:
    said, key = MESSAGE, KEY
    try:
        try:
            {}[said]
        except KeyError as error:
            raise RuntimeError(f"{key} {PROVIDER}") from error
    except RuntimeError as error:
        LogOnce(logging.getLogger("graph_memory.plugin")).report("hear", error)
        logging.getLogger("graph_memory.learning").warning("held up: %s", error, exc_info=True)
    written = log.getvalue()
    assert_clean(written)
    for part in ("hear: RuntimeError", "KeyError", "caused by", "test_a_traceback_shows"):
        assert part in written


def test_a_key_that_is_no_text_is_not_quoted() -> None:
    _, (problem,) = read({"webui_key": 99887766})
    assert "99887766" not in str(problem)
