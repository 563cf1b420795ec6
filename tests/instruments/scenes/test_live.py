"""``./dev scenes`` and its scores; the live client over real HTTP, to a server on localhost."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graph_memory.errors import ExtractionError
from graph_memory.learning.prompt import TOOL
from tests.e2e.harness import ChatCall, Failure, FakeOpenAI, ToolCall
from tests.endpoint import Endpoint
from tests.scripted import answer, said, thing

from .__main__ import main
from .live import ATTEMPTS, LiveModel
from .score import Score, play, totals
from .stage import NOTHING, Ask, Expected, Scene, Sitting

KEY = "sk-not-to-be-shown"
LICENCE = answer(
    said("U1", "did", "E1", "张三于2026-05-03（昨天）拿到了驾照", 1, date="2026-05-03"),
    said("U1", "feels", "E1", "张三很激动", 1),
    entities=[thing("E1", "驾照")],
)


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as running:
        yield running


def env(server: FakeOpenAI) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url + "/", "OPENAI_MODEL": "m-1"}


async def ask(server: FakeOpenAI, *, tool: Any = TOOL) -> tuple[Any, LiveModel]:
    async with LiveModel(Endpoint(KEY, server.base_url, "m-1"), pause=0) as model:
        return await model.ask("系统", "你好", tool=tool), model


async def test_a_tool_call_is_read_with_what_it_cost(server: FakeOpenAI) -> None:
    server.when("你好", ToolCall(TOOL.name, LICENCE))
    answer, model = await ask(server)
    assert answer.arguments == LICENCE
    assert answer.tokens_in > 0
    assert (model.calls, model.tokens_in, model.tokens_out) == (
        1, answer.tokens_in, answer.tokens_out,
    )  # fmt: skip
    (call,) = server.calls
    assert (call.model, call.system, call.tool_names) == ("m-1", "系统", [TOOL.name])
    assert call.body["tool_choice"] == "required"


async def test_a_server_without_tools_is_asked_for_json(server: FakeOpenAI) -> None:
    server.when(lambda call: bool(call.tool_names), Failure(400, "tools are not supported"))
    server.when(lambda call: '"lines"' in call.last_user, '{"worth": false}')
    async with LiveModel(Endpoint(KEY, server.base_url, "m-1"), pause=0) as model:
        for _ in range(2):
            assert (await model.ask("系统", "你好", tool=TOOL)).text == '{"worth": false}'
    # Once refused, tools are not tried again.
    assert [bool(call.tool_names) for call in server.calls] == [True, False, False]


async def test_a_busy_server_is_asked_again(server: FakeOpenAI) -> None:
    answers = iter([Failure(429, "slow down"), Failure(503), "喵"])
    server.when("你好", lambda _call: next(answers))
    answer, model = await ask(server)
    assert (answer.text, answer.arguments, model.calls) == ("喵", None, 3)


@pytest.mark.parametrize(("status", "calls"), [(500, ATTEMPTS), (401, 1)])
async def test_a_server_that_fails_is_an_error_that_hides_the_key(server, status, calls):
    server.when("你好", Failure(status, "no"))
    with pytest.raises(ExtractionError, match=f"HTTP {status}: .*no") as failed:
        await ask(server)
    assert len(server.calls) == calls
    assert KEY not in str(failed.value)
    assert KEY not in repr(Endpoint(KEY, server.base_url, "m-1"))


async def test_an_address_without_a_server_is_an_error(server: FakeOpenAI) -> None:
    async with LiveModel(Endpoint(KEY, server.base_url + "/nowhere", "m"), pause=0) as model:
        with pytest.raises(ExtractionError, match="HTTP 404"):
            await model.ask("系统", "你好")
    async with LiveModel(Endpoint(KEY, "http://127.0.0.1:9/v1", "m"), pause=0) as model:
        with pytest.raises(ExtractionError, match="Connect"):
            await model.ask("系统", "你好")


async def run(*arguments: str, env: dict[str, str]) -> int:
    """The command, on a loop of its own."""
    return await asyncio.to_thread(main, arguments, env)


async def test_without_a_key_it_says_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("--live", env={"OPENAI_MODEL": "m", "OPENAI_API_KEY": " "}) == 2
    assert "not set: OPENAI_API_KEY, OPENAI_BASE_URL." in capsys.readouterr().err
    assert await run("--only", "no-such-scene", env={}) == 2


async def test_live_scenes_are_scored(server, tmp_path, capsys):
    def learned(call: ChatCall) -> ToolCall:
        return ToolCall(TOOL.name, LICENCE if "驾照" in call.last_user else NOTHING)

    server.when(lambda call: TOOL.name in call.tool_names, learned)
    path = tmp_path / "scores.json"
    names = ("zh-yesterday", "zh-joke", "zh-taste", "zh-refusal")
    options = ("--live", "--json", "--output", str(path), "--only", *names)
    assert await run(*options, env=env(server)) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == json.loads(path.read_text(encoding="utf-8"))
    assert (report["model"], report["calls"]) == ("m-1", 4)
    scenes = {scene["name"]: scene for scene in report["scenes"]}
    # What only a scripted answer makes a point of is not put to a real model.
    assert list(scenes) == ["zh-joke", "zh-yesterday", "zh-taste-changes"]
    licence = scenes["zh-yesterday"]
    assert (licence["expected"], licence["found"], licence["dated"]) == (1, 1, 1)
    assert (licence["reminded"], licence["reminders"]) == (1, 1)
    assert licence["surplus"] == ["feels: 张三很激动"]
    assert len(scenes["zh-taste-changes"]["missing"]) == 2
    figures = report["totals"]
    assert (figures["expected"], figures["learned"], figures["found"]) == (3, 2, 1)
    assert (figures["precision"], figures["recall"], figures["f1"]) == (0.5, 0.3333, 0.4)
    assert (figures["forbidden"], figures["leaks"], figures["unlearned"]) == (0, 0, 0)
    assert KEY not in json.dumps(report)


async def test_a_live_model_that_fails_is_told_apart_from_one_that_finds_nothing(server, capsys):
    server.when(lambda _call: True, Failure(401, "who are you"))
    assert await run("--live", "--only", "zh-yesterday", env=env(server)) == 1
    shown = capsys.readouterr().out
    assert "not learned: 1 batches" in shown
    assert "missing: 张三 did 驾照" in shown
    assert "recall: 0.0" in shown


async def test_the_written_answers_score_full_marks(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("--json", "--only", "en-plan", "zh-private-stays", env={}) == 0
    figures = json.loads(capsys.readouterr().out)["totals"]
    full = ("precision", "recall", "f1", "dated", "reminded")
    assert [figures[name] for name in full] == [1.0] * 5
    assert (figures["scenes"], figures["leaks"], figures["errors"]) == (2, 0, 0)


async def scored(tmp_path: Path, *expected: Expected, **more: Any) -> Score:
    given = answer(
        said("U1", "lives_in", "E1", "张三住在杭州西湖边", 1),
        said("U1", "likes", "E2", "张三喜欢龙井茶", 1),
        entities=[thing("E1", "杭州西湖", "place"), thing("E2", "龙井茶", "topic")],
    )
    sitting = Sitting("2026-03-02 20:00", ("张三: 我住杭州西湖边，爱喝龙井茶",), (given,))
    return await play(Scene("s", "西湖", (sitting,), expected, **more), tmp_path, None)


async def test_words_and_predicates_may_be_the_models_own(tmp_path: Path) -> None:
    score = await scored(
        tmp_path,
        Expected("张三", "lives_in", "西湖"),
        Expected("张三", "habit", "", ("龙井|绿茶",), ("likes",), since="2026-03-01"),
    )
    assert (score.found, score.dated, score.missing, score.surplus) == (2, 1, [], [])
    # As written scenes must come out exactly, this one does not.
    assert score.differs


async def test_what_must_not_be_is_counted(tmp_path: Path) -> None:
    score = await scored(
        tmp_path, Expected("李四", "lives_in", "杭州西湖"), never=("龙井",), nobody=("杭州西湖",),
        asks=(
            Ask("张三", "我住在哪里？", gets=("杭州", "上海"), lacks=("西湖",)),
            Ask("李四", "张三住在哪里？", lacks=("*",)),
        ),
    )  # fmt: skip
    assert (score.found, score.missing) == (0, ["李四 lives_in 杭州西湖"])
    assert len(score.forbidden) == 2
    assert (score.reminded, score.reminders, score.leaks) == (1, 2, ["张三: 西湖"])
    figures = totals([score])
    assert (figures["recall"], figures["precision"], figures["dated"]) == (0.0, 0.0, None)


async def test_a_scene_that_cannot_be_played_says_so(tmp_path: Path) -> None:
    sitting = Sitting("2026-03-02 20:00", ("张三: 我住杭州",), (NOTHING, NOTHING))
    score = await play(Scene("s", "", (sitting,)), tmp_path, None)
    assert "answers that nobody asked for" in score.error
    assert totals([score])["errors"] == 1
