"""AstrBot's models and chats behind this package's own interfaces."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import numpy as np
from astrbot.api.event import MessageChain
from astrbot.core.utils.session_lock import session_lock_manager

from .. import embedding
from ..embedding.vectors import fit
from ..errors import (
    EmbeddingError,
    ExtractionError,
    Failure,
    RerankError,
    SettingError,
    brief,
    failure_of,
    status_of,
)
from ..inference import Answer, Embedder, ToolSchema, Vectors
from ..locales import say
from ..model import Session
from ..settings import Settings
from .adapter import Host

logger = logging.getLogger("graph_memory.plugin")

MAX_TEXT = 1_440
"""Bytes of one text that are embedded or reranked: 480 Chinese characters.

Many models refuse 512 tokens.
"""


class ProviderModel:
    """AstrBot's chat providers as a ``LanguageModel``."""

    def __init__(self, host: Host, settings: Settings) -> None:
        self._host = host
        self._wanted = settings.llm_provider_id

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """Ask once; a provider that refuses tools is asked for the same as JSON text.

        Raises:
            ExtractionError: No provider, or it failed.
        """
        provider = await self._provider(where)
        try:
            try:
                return answer_of(await self._host.generate(provider, system, prompt, tool))
            except Exception as error:
                if tool is None or not _is_refusal(error):
                    raise
            schema = json.dumps(tool.parameters, ensure_ascii=False)
            prompt += "\n\nAnswer with one JSON object and nothing else. Its JSON schema is:\n"
            prompt += schema
            return answer_of(await self._host.generate(provider, system, prompt))
        except Exception as error:  # whatever the provider's SDK raises
            reason = f"the language model failed: {brief(error)}"
            raise ExtractionError(reason, failure_of(error)) from error

    async def _provider(self, where: str) -> str:
        await self._host.providers_ready()
        if self._wanted in self._host.chat_providers():
            return self._wanted
        provider = await self._host.current_chat_provider(where)
        if not provider:
            reason = "AstrBot has no chat provider; add one in its dashboard"
            raise ExtractionError(reason, Failure.NO_PROVIDER)
        return provider


class ProviderEmbedder:
    """One of AstrBot's embedding providers, not calibrated yet.

    The provider is looked up for every call: saving it in the dashboard replaces it.

    Args:
        id: The provider's id.
        changed: Called when the provider turned out to have another model now, whose
            vectors must not be mixed with this one's.

    Raises:
        EmbeddingError: There is no such provider.
    """

    parallel = True

    def __init__(self, host: Host, id: str, changed: Callable[[], None]) -> None:
        self._host = host
        self._id = id
        self._changed = changed
        self.name = self._signature(self._provider())

    def _provider(self) -> Any:
        provider = self._host.embedding_provider(self._id)
        if provider is None:
            reason = f"AstrBot has no embedding provider {self._id!r}"
            raise EmbeddingError(reason, Failure.NO_PROVIDER)
        return provider

    def _signature(self, provider: Any) -> str:
        model = provider.provider_config.get("embedding_model") or provider.get_model()
        return f"astrbot:{self._id}:{model}:{provider.get_dim()}"

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts, shape ``(len(texts), dim)``, any length.

        Raises:
            EmbeddingError: The provider failed or answered nonsense.
        """
        provider = self._provider()
        if self._signature(provider) != self.name:
            self._changed()
            raise EmbeddingError(f"the embedding provider {self._id!r} has another model now")
        try:
            found = await provider.get_embeddings([fit(text, MAX_TEXT) for text in texts])
            rows: Vectors = np.asarray(found, np.float32)
        except Exception as error:  # whatever the provider's SDK raises
            reason = f"the embedding provider {self._id!r} failed: {brief(error)}"
            raise EmbeddingError(reason, failure_of(error)) from error
        if rows.ndim != 2 or len(rows) != len(texts):
            raise EmbeddingError(f"the embedding provider {self._id!r} answered nonsense")
        return rows

    questions = passages

    async def close(self) -> None:
        """Nothing to free: the provider is AstrBot's."""


class ProviderReranker:
    """One of AstrBot's rerank providers, looked up for every call."""

    def __init__(self, host: Host, id: str) -> None:
        self._host = host
        self._id = id

    async def scores(self, query: str, texts: list[str]) -> list[float]:
        """How well each text answers the question.

        Raises:
            RerankError: There is no such provider, it failed or answered nonsense.
        """
        try:
            provider = self._host.rerank_provider(self._id)
            some = [fit(text, MAX_TEXT) for text in texts]
            found = await provider.rerank(query, some, top_n=len(texts))
            scores = {each.index: float(each.relevance_score) for each in found}
        except (Exception, asyncio.CancelledError) as error:  # whatever the provider's SDK raises
            if (task := asyncio.current_task()) and task.cancelling():
                raise  # the reply waits no longer
            raise RerankError(f"the rerank provider {self._id!r} failed: {brief(error)}") from error
        if not scores or not scores.keys() <= set(range(len(texts))):
            raise RerankError(f"the rerank provider {self._id!r} answered nonsense")
        least = min(scores.values())  # some leave out what answers nothing
        return [scores.get(place, least) for place in range(len(texts))]


class AstrBotVoice:
    """Sends messages that answer nothing.

    Args:
        context: AstrBot's ``Context``.
        language: Of what stands in the history for a user who said nothing.
    """

    def __init__(self, context: Any, host: Host, language: str) -> None:
        self._context = context
        self._host = host
        self._language = language

    async def persona(self, session: Session) -> str | None:
        """The prompt of a Session's persona; ``None`` if it does not speak there."""
        await self._host.providers_ready()
        if not await self._host.speaks_at(session.umo):
            return None
        platform = session.circle.split(":", 1)[0]
        persona, prompt = await self._host.persona_at(session.umo, platform)
        return prompt if persona == session.persona else None

    def turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        """AstrBot's own lock: it reads and writes the history of a chat under it."""
        lock: AbstractAsyncContextManager[None] = session_lock_manager.acquire_lock(session.umo)
        return lock

    async def say(self, session: Session, text: str) -> bool:
        """Send a message and let it be part of AstrBot's conversation."""
        try:
            sent = await self._context.send_message(session.umo, MessageChain().message(text))
        except Exception as error:  # whatever an adapter raises
            logger.info("a message could not be sent: %r", error)
            return False
        if sent:
            await self._note(session, text)
        return bool(sent)

    async def _note(self, session: Session, text: str) -> None:
        manager = self._context.conversation_manager
        try:
            current = await manager.get_curr_conversation_id(session.umo)
            if current:
                await manager.add_message_pair(
                    current,
                    {"role": "user", "content": say(self._language, "care_turn")},
                    {"role": "assistant", "content": text},
                )
        except Exception as error:  # it is said, and in the journal
            logger.warning("AstrBot's history does not have what was said first: %r", error)


async def load_embedder(
    host: Host,
    settings: Settings,
    store: embedding.VectorStore,
    folder: Path,
    changed: Callable[[], None],
) -> Embedder | None:
    """The embedder the settings ask for; ``None`` for words and names only.

    A provider that is down is an error, to be tried again, and not replaced by the local
    model: that would compute every vector anew, twice.

    Args:
        store, folder: Keep what is computed once for a local model.
        changed: As for :class:`ProviderEmbedder`.

    Raises:
        EmbeddingError: The provider is down, or the local model cannot be loaded.
    """
    wanted = settings.embedding_provider_id
    await host.providers_ready()  # a local model would slow down the rest of AstrBot's start
    if wanted and host.embedding_provider(wanted) is not None:
        return await embedding.calibrate(ProviderEmbedder(host, wanted, changed))
    local = settings.local_embedding_model
    return await embedding.load(embedding.BUNDLED if _is_missing(local) else local, store, folder)


def wrong_choices(host: Host, settings: Settings) -> list[SettingError]:
    """Models that the settings name and that do not exist.

    Only for an AstrBot that has its providers.
    """
    there_is: dict[str, Callable[[str], bool]] = {
        "llm_provider_id": lambda name: name in host.chat_providers(),
        "embedding_provider_id": lambda name: host.embedding_provider(name) is not None,
        "rerank_provider_id": lambda name: host.rerank_provider(name) is not None,
        "local_embedding_model": lambda model: not _is_missing(model),
    }
    return [
        SettingError(name, f"there is no {value!r}").told("setting_model", value=value).use("")
        for name, is_there in there_is.items()
        if (value := getattr(settings, name)) and not is_there(value)
    ]


def _is_missing(model: str) -> bool:
    """Whether a local model is said to be in a folder that is not there."""
    folder = Path(model).expanduser()
    return (folder.is_absolute() or model.startswith(".")) and not folder.is_dir()


def _is_refusal(error: Exception) -> bool:
    """Whether a provider understood the request and will not have it (no tools, say)."""
    return status_of(error) in {400, 404, 405, 415, 422}


def answer_of(response: Any) -> Answer:
    """What AstrBot's response holds, and what it cost."""
    calls = response.tools_call_args or [None]
    arguments = calls[0] if len(calls) == 1 else {"calls": calls}
    usage = response.usage
    return Answer(
        response.completion_text or "" if arguments else _text(response),
        arguments if isinstance(arguments, dict) and arguments else None,
        usage.input_other + usage.input_cached if usage else 0,
        usage.output if usage else 0,
    )


def _text(response: Any) -> str:
    """What the model wrote: its text, else the arguments that AstrBot could not parse."""
    if response.completion_text:
        return str(response.completion_text)
    try:
        call = response.raw_completion.choices[0].message.tool_calls[0]
        return str(call.function.arguments)
    except (AttributeError, IndexError, TypeError):
        return ""
