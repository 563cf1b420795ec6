"""A real language model behind an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from graph_memory.errors import ExtractionError
from graph_memory.inference import Answer, ToolSchema
from graph_memory.text import one_line
from tests.endpoint import Endpoint

ATTEMPTS = 4
PAUSE = 2.0
"""Seconds before the second attempt; twice as long before each further one."""
LONGEST_PAUSE = 60.0
_BUSY = {408, 409, 429, 500, 502, 503, 504}
_REFUSED = {400, 404, 405, 415, 422}
"""The server understood and will not have it: models without tools answer like that."""


class LiveModel:
    """A language model on a server; use as an async context manager.

    Attributes:
        calls, tokens_in, tokens_out: What was asked so far, as the server counts tokens.
    """

    def __init__(self, server: Endpoint, *, pause: float = PAUSE) -> None:
        self._server = server
        self._pause = pause
        self._http: ClientSession | None = None
        self._takes_tools = True
        self.calls = self.tokens_in = self.tokens_out = 0

    async def __aenter__(self) -> LiveModel:
        self._http = ClientSession(
            headers={"Authorization": f"Bearer {self._server.key}"},
            timeout=ClientTimeout(total=170),
        )
        return self

    async def __aexit__(self, *_exc: object) -> None:
        if self._http:
            await self._http.close()

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """Ask once, like the plugin: with the tool, and for plain JSON if that is refused."""
        if tool and self._takes_tools:
            try:
                return await self._ask(system, prompt, tool)
            except _RefusedError:
                self._takes_tools = False
        if tool:
            schema = json.dumps(tool.parameters, ensure_ascii=False)
            prompt += f"\n\nAnswer with one JSON object only, of this JSON schema:\n{schema}"
        return await self._ask(system, prompt, None)

    async def _ask(self, system: str, prompt: str, tool: ToolSchema | None) -> Answer:
        body: dict[str, Any] = {
            "model": self._server.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt},
            ],
        }
        if tool:
            function = {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = "required"
        return self._read(await self._post(body))

    async def _post(self, body: dict[str, Any]) -> Any:
        assert self._http
        problem = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(min(LONGEST_PAUSE, self._pause * 2 ** (attempt - 1)))
            self.calls += 1
            url = self._server.base_url.rstrip("/") + "/chat/completions"
            try:
                async with self._http.post(url, json=body) as response:
                    if response.status == 200:
                        return await response.json(content_type=None)
                    problem = f"HTTP {response.status}: {await _brief(response)}"
                    if response.status in _REFUSED:
                        raise _RefusedError(problem)
                    if response.status not in _BUSY:
                        raise ExtractionError(problem)
            except (ClientError, TimeoutError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
        raise ExtractionError(problem)

    def _read(self, data: Any) -> Answer:
        try:
            message = data["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            said = str(calls[0]["function"]["arguments"]) if calls else message.get("content") or ""
        except (LookupError, TypeError, AttributeError) as error:
            raise ExtractionError(f"not a chat completion: {one_line(str(data), 200)}") from error
        usage = data.get("usage")
        usage = usage if isinstance(usage, Mapping) else {}
        tokens_in, tokens_out = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        return Answer(said, _arguments(said) if calls else None, tokens_in, tokens_out)


class _RefusedError(ExtractionError):
    """The server will not take such a request."""


async def _brief(response: ClientResponse) -> str:
    return one_line((await response.text())[:1_000], 200)


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
