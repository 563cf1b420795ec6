"""Chat and embedding providers: what they may do wrong."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.core import sp

from graph_memory import embedding
from graph_memory.astrbot import NAME
from graph_memory.astrbot.providers import (
    MAX_TEXT,
    AstrBotVoice,
    ProviderEmbedder,
    ProviderModel,
    ProviderReranker,
    load_embedder,
    wrong_choices,
)
from graph_memory.errors import EmbeddingError, ExtractionError, RerankError
from graph_memory.inference import Answer, ToolSchema
from graph_memory.locales import explain
from graph_memory.model import session_of
from graph_memory.settings import Settings

from .test_host import host

TOOL = ToolSchema("save", "Save", {"type": "object", "properties": {"worth": {"type": "boolean"}}})


class RefusedError(Exception):
    """Like an SDK's error for an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status


class Scripted:
    """A host whose chat provider answers as told."""

    def __init__(self, *answers: Any, ids: tuple[str, ...] = ("a", "b"), current: str = "a"):
        self.answers = list(answers)
        self.asked: list[tuple[str, str, ToolSchema | None]] = []
        self.ids, self.current = set(ids), current

    async def providers_ready(self) -> None:
        pass

    def chat_providers(self) -> set[str]:
        return self.ids

    async def current_chat_provider(self, _umo: str) -> str:
        return self.current

    async def generate(
        self, provider: str, _system: str, prompt: str, tool: ToolSchema | None = None
    ) -> Any:
        self.asked.append((provider, prompt, tool))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def response(text: str | None = None, *arguments: Any, raw: str = "") -> Any:
    call = SimpleNamespace(function=SimpleNamespace(arguments=raw))
    choice = SimpleNamespace(message=SimpleNamespace(tool_calls=[call] if raw else None))
    return SimpleNamespace(
        completion_text=text,
        tools_call_args=list(arguments),
        usage=SimpleNamespace(input_other=7, input_cached=3, output=2),
        raw_completion=SimpleNamespace(choices=[choice]),
    )


def model(host: Scripted, provider: str = "") -> ProviderModel:
    return ProviderModel(host, Settings(llm_provider_id=provider))  # type: ignore[arg-type]


CUT_OFF = '{"worth": true, "facts": [{"subj'
CALLS = {"lines": "summary|早"}, {"lines": "used|1"}


@pytest.mark.parametrize(("given", "tool", "text", "arguments"), [
    (response(None, {"worth": True}), TOOL, "", {"worth": True}),
    (response(None, *CALLS), TOOL, "", {"calls": [*CALLS]}),
    (response("  答案"), None, "  答案", None),
    (response(None, {}, raw=CUT_OFF), TOOL, CUT_OFF, None),
], ids=["a tool call", "several calls", "text", "what AstrBot could not parse"])  # fmt: skip
@pytest.mark.parametrize(("wanted", "asked"), [("b", "b"), ("", "a")])
async def test_what_a_provider_answers(given, tool, text, arguments, wanted, asked):
    host = Scripted(given)
    told = await model(host, wanted).ask("系统", "问题", tool=tool)
    assert told == Answer(text, arguments, 10, 2)
    assert host.asked == [(asked, "问题", tool)]


async def test_a_provider_that_refuses_tools_is_asked_for_json() -> None:
    host = Scripted(RefusedError(400), response('{"worth": false}'))
    assert (await model(host).ask("", "问题", tool=TOOL)).text == '{"worth": false}'
    assert host.asked[1][2] is None
    assert '"worth": {"type": "boolean"}' in host.asked[1][1]


@pytest.mark.parametrize(
    "error", [RefusedError(429), RefusedError(503), TimeoutError(), ValueError("?")]
)
async def test_other_failures_are_not_asked_twice(error: Exception) -> None:
    host = Scripted(error)
    with pytest.raises(ExtractionError, match=type(error).__name__):
        await model(host).ask("", "", tool=TOOL)
    assert len(host.asked) == 1


async def test_an_unknown_provider_is_replaced_by_the_chats_own() -> None:
    host = Scripted(response("1"), response("2"))
    asker = model(host, "gone")
    await asker.ask("", "")
    await asker.ask("", "")
    assert [provider for provider, _, _ in host.asked] == ["a", "a"]


def test_models_that_there_are_not_are_named(tmp_path: Path) -> None:
    host = Scripted()
    host.embedding_provider = host.rerank_provider = lambda _: None  # type: ignore[attr-defined]
    missing = str(tmp_path / "no-such")
    settings = Settings(
        llm_provider_id="gone",
        embedding_provider_id="lost",
        rerank_provider_id="none",
        local_embedding_model=missing,
    )
    wrong = wrong_choices(host, settings)  # type: ignore[arg-type]
    for error, value in zip(wrong, ("gone", "lost", "none", missing), strict=True):
        for told in (str(error), explain("zh", error), explain("en", error)):
            assert error.name in told
            assert value in told
    named = Settings(llm_provider_id="a", local_embedding_model="intfloat/multilingual-e5-small")
    assert not wrong_choices(host, named)  # type: ignore[arg-type]
    assert not wrong_choices(host, Settings(local_embedding_model=str(tmp_path)))  # type: ignore[arg-type]


async def test_a_local_model_that_is_not_there_is_replaced_by_the_bundled_one(
    tmp_path, monkeypatch
):
    loaded: list[str] = []

    async def load(model: str, store: None, folder: Path) -> None:
        loaded.append(model)

    monkeypatch.setattr(embedding, "load", load)
    for model in (str(tmp_path / "no-such"), "./no-such", "bundled", str(tmp_path)):
        settings = Settings(local_embedding_model=model)
        wanted = load_embedder(Scripted(), settings, None, tmp_path, lambda: None)  # type: ignore[arg-type]
        await wanted
    assert loaded == ["bundled", "bundled", "bundled", str(tmp_path)]


async def test_no_provider_at_all() -> None:
    with pytest.raises(ExtractionError, match="no chat provider"):
        await model(Scripted(ids=(), current="")).ask("", "")


class Embeddings:
    """An embedding provider, which AstrBot may replace or lose."""

    def __init__(self, model: str = "m1") -> None:
        self.provider_config = {"embedding_model": model}
        self.answer: Any = None

    def get_model(self) -> str:
        return ""

    def get_dim(self) -> int:
        return 4

    async def get_embeddings(self, texts: list[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        if any(len(text) > 512 or not text.strip() for text in texts):
            raise RefusedError(413)
        return self.answer or [[1.0, 0.0, 0.0, float(i)] for i, _ in enumerate(texts)]


class Shelf:
    """A host with one embedding provider."""

    def __init__(self) -> None:
        self.provider: Embeddings | None = Embeddings()

    def embedding_provider(self, _id: str) -> Embeddings | None:
        return self.provider


async def test_embedding() -> None:
    shelf = Shelf()
    embedder = ProviderEmbedder(shelf, "e", pytest.fail)  # type: ignore[arg-type]
    assert embedder.name == "astrbot:e:m1:4"
    assert (await embedder.passages(["一", "二"])).shape == (2, 4)
    assert (await embedder.questions(["问"])).shape == (1, 4)
    assert (await embedder.passages(["长" * 8_000, " \0", "\ud83d"])).shape == (3, 4)


@pytest.mark.parametrize("answer", [RefusedError(500), [[1.0]], [[1.0], [2.0, 3.0]], ["x", "y"]])
async def test_embedding_fails(answer: Any) -> None:
    shelf = Shelf()
    embedder = ProviderEmbedder(shelf, "e", pytest.fail)  # type: ignore[arg-type]
    shelf.provider.answer = answer
    with pytest.raises(EmbeddingError, match="'e'"):
        await embedder.passages(["一", "二"])


async def test_another_model_is_not_mixed_in() -> None:
    shelf, changes = Shelf(), []
    embedder = ProviderEmbedder(shelf, "e", lambda: changes.append(1))  # type: ignore[arg-type]
    shelf.provider = Embeddings("m2")
    with pytest.raises(EmbeddingError, match="another model"):
        await embedder.questions(["问"])
    assert changes == [1]
    shelf.provider = None
    with pytest.raises(EmbeddingError, match="no embedding provider"):
        await embedder.questions(["问"])


class Ranks:
    """A rerank provider, which leaves out what answers nothing."""

    def __init__(self, *found: tuple[int, float], error: BaseException | None = None) -> None:
        self.found, self.error = found, error

    async def rerank(self, query: str, documents: list[str], top_n: int | None = None) -> Any:
        if self.error:
            raise self.error
        self.documents = documents
        return [SimpleNamespace(index=i, relevance_score=score) for i, score in self.found]


async def test_scores_of_a_rerank_provider_are_in_the_order_of_the_texts() -> None:
    host = SimpleNamespace(rerank_provider=lambda _: Ranks((2, 0.9), (0, 0.4)))
    found = await ProviderReranker(host, "r").scores("q", ["a", "b", "c"])  # type: ignore[arg-type]
    assert found == [0.4, 0.4, 0.9]


async def test_a_rerank_provider_is_asked_for_as_much_of_a_long_text_as_every_model_takes():
    ranks = Ranks((0, 0.9), (1, 0.4))
    host = SimpleNamespace(rerank_provider=lambda _: ranks)
    await ProviderReranker(host, "r").scores("q", ["猫", "长" * 8_000])  # type: ignore[arg-type]
    short, long = ranks.documents
    assert short == "猫"
    assert len(long.encode()) <= MAX_TEXT


@pytest.mark.parametrize("wrong", [
    None, Ranks(), Ranks((9, 1.0)), Ranks(error=OSError("down")),
    Ranks(error=asyncio.CancelledError()),
])  # fmt: skip
async def test_a_rerank_provider_that_fails_says_so(wrong: Ranks | None) -> None:
    host = SimpleNamespace(rerank_provider=lambda _: wrong)
    with pytest.raises(RerankError, match="'r'"):
        await ProviderReranker(host, "r").scores("q", ["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize(("kept", "config", "speaks"), [
    ({}, {}, True),
    ({}, {"plugin_set": ["*"], "provider_settings": {"enable": True}}, True),
    ({}, {"provider_settings": {"enable": False}}, False),
    ({}, {"plugin_set": ["another"]}, False),
    ({"session_service_config": {"session_enabled": False}}, {}, False),
    ({"session_service_config": {"llm_enabled": False}}, {}, False),
    ({"session_plugin_config": {"qq:FriendMessage:7": {"disabled_plugins": [NAME]}}}, {}, False),
])  # fmt: skip
async def test_nobody_is_spoken_to_where_the_owner_switched_it_off(
    monkeypatch, kept, config, speaks
):
    async def get_async(*, key: str, default: object, **_: object) -> object:
        return kept.get(key, default)

    monkeypatch.setattr(sp, "get_async", get_async)
    where = session_of("aiocqhttp", "", "7", "default", umo="qq:FriendMessage:7")
    said = await AstrBotVoice(None, host(config), "zh").persona(where)
    assert said == ("" if speaks else None)
