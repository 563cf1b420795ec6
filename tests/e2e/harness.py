"""End-to-end test harness that drives a real AstrBot process without internet."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import os
import re
import signal
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import ClientSession, ClientTimeout, FormData, WSMsgType, web

from tests.scripted import hashed

BOT_ID = 10000
ADMIN_ID = 90000
DASHBOARD_USER = "astrbot"
DASHBOARD_PASSWORD = "Harness-Pass-1234"
CHAT_PROVIDER_ID = "fake-chat"
EXTRACT_PROVIDER_ID = "fake-extract"
EMBEDDING_PROVIDER_ID = "fake-embedding"
RERANK_PROVIDER_ID = "fake-rerank"
ONEBOT_PLATFORM_ID = "qq"
OTHER_PLATFORM_ID = "qq-other"
HIDING = Path(__file__).parents[1] / "hiding" / "sitecustomize.py"
"""What a process reads first: it knows nothing of the packages in GRAPH_MEMORY_HIDDEN."""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


async def wait_until(
    condition: Callable[[], Any], timeout: float = 10.0, what: str = "condition"
) -> Any:
    """Poll ``condition`` (sync or async) until it is truthy and return its value."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"timed out after {timeout}s waiting for {what}")
        await asyncio.sleep(0.05)


@dataclass
class ChatCall:
    """One ``/v1/chat/completions`` request as AstrBot sent it."""

    body: dict[str, Any]
    answer: Any = None

    @property
    def model(self) -> str:
        return self.body.get("model", "")

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages", [])

    @property
    def tool_names(self) -> list[str]:
        return [t["function"]["name"] for t in self.body.get("tools") or []]

    @property
    def system(self) -> str:
        return "\n".join(text_of(m["content"]) for m in self.messages if m["role"] == "system")

    @property
    def last_user(self) -> str:
        """All text of the last user message (prompt plus extra parts)."""
        return "\n".join(self.last_user_parts)

    @property
    def last_user_parts(self) -> list[str]:
        """Text blocks of the last user message; the first one is the prompt."""
        users = [m for m in self.messages if m["role"] == "user"]
        return texts_of(users[-1]["content"]) if users else [""]

    @property
    def tool_results(self) -> list[str]:
        """Contents of tool messages after the last user message."""
        tail = itertools.takewhile(lambda m: m["role"] != "user", reversed(self.messages))
        return [text_of(m["content"]) for m in tail if m["role"] == "tool"][::-1]


@dataclass
class ToolCall:
    """Answer with one tool call instead of text."""

    name: str
    arguments: dict[str, Any]


@dataclass
class Failure:
    """Answer with an HTTP error."""

    status: int = 500
    message: str = "scripted failure"

    def response(self) -> web.Response:
        error = {"message": self.message, "type": "scripted"}
        return web.json_response({"error": error}, status=self.status)


Responder = Callable[[ChatCall], Any]


def texts_of(content: Any) -> list[str]:
    """The text blocks of OpenAI message content."""
    if isinstance(content, str):
        return [content]
    return [part.get("text", "") for part in content or () if part.get("type") == "text"]


def text_of(content: Any) -> str:
    return "\n".join(texts_of(content))


def echo(call: ChatCall) -> str:
    """Default responder: repeat the user's prompt."""
    return f"echo: {''.join(call.last_user_parts[:1])}"


class LoopbackServer:
    """A server on a free port while it is entered; ``routes`` answer ``POST`` below ``/v1``."""

    def __init__(self, routes: dict[str, Callable[[web.Request], Any]]) -> None:
        self._app = web.Application(client_max_size=64 * 1024**2)
        for path, answer in routes.items():
            self._app.router.add_post(f"/v1/{path}", answer)
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._runner.cleanup()


class FakeOpenAI(LoopbackServer):
    """Scripted OpenAI-compatible server.

    Rules are tried in the order they were added; the first whose predicate
    accepts the call decides the answer. A responder may be async and returns
    ``str``, ``dict``/``list`` (sent as JSON text), ``ToolCall`` or ``Failure``.
    ``relevance`` is what a text is worth to the reranker.
    """

    def __init__(self, chunk_size: int = 8) -> None:
        answers = {"chat/completions": self._chat, "embeddings": self._embeddings}
        super().__init__(answers | {"rerank": self._rerank})
        self._app.router.add_get("/v1/models", self._models)
        self.chunk_size = chunk_size
        self.calls: list[ChatCall] = []
        self.embedded: list[str] = []
        self.embedding_failure: Failure | None = None
        self.relevance: Callable[[str], float] | Failure = len
        self._rules: list[tuple[Callable[[ChatCall], bool], Responder]] = []
        self._ids = itertools.count(1)

    def when(self, predicate: Callable[[ChatCall], bool] | str, answer: Responder | Any) -> None:
        """Add a rule; text as predicate is sought in system prompt and last user message."""
        if isinstance(predicate, str):
            needle = predicate
            predicate = lambda call: (  # noqa: E731
                needle in call.system or needle in call.last_user
            )
        responder = answer if callable(answer) else lambda _call: answer
        self._rules.append((predicate, responder))

    def reset(self) -> None:
        """Forget rules and recorded calls."""
        self._rules.clear()
        self.calls.clear()
        self.embedded.clear()
        self.embedding_failure = None
        self.relevance = len

    async def _models(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "fake", "object": "model"}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        call = ChatCall(await request.json())
        self.calls.append(call)
        answer = next((r for match, r in self._rules if match(call)), echo)(call)
        if inspect.isawaitable(answer):
            answer = await answer
        call.answer = answer
        if isinstance(answer, Failure):
            return answer.response()
        message = self._as_message(answer)
        given, made = (len(json.dumps(each)) // 4 for each in (call.messages, message))
        usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        id, now = f"chatcmpl-{next(self._ids)}", int(time.time())
        head = {"id": id, "created": now, "model": call.model}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        if not call.stream:
            choices = [{"index": 0, "message": message, "finish_reason": finish}]
            whole = {"object": "chat.completion", "choices": choices, "usage": usage}
            return web.json_response(head | whole)
        return await self._stream(request, head, message, finish, usage)

    async def _stream(
        self, request: web.Request, head: dict, message: dict, finish: str, usage: dict
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(payload: dict) -> None:
            await response.write(f"data: {json.dumps(payload)}\n\n".encode())

        def chunk(delta: dict, reason: str | None = None) -> dict:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return {**head, "object": "chat.completion.chunk", "choices": [choice]}

        await send(chunk({"role": "assistant", "content": ""}))
        text = message.get("content") or ""
        for start in range(0, len(text), self.chunk_size):
            await send(chunk({"content": text[start : start + self.chunk_size]}))
        for index, call in enumerate(message.get("tool_calls") or []):
            await send(chunk({"tool_calls": [{"index": index, **call}]}))
        await send(chunk({}, finish))
        await send({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def _as_message(self, answer: Any) -> dict[str, Any]:
        if isinstance(answer, ToolCall):
            named = {"name": answer.name, "arguments": _dumped(answer.arguments)}
            tool = {"id": f"call_{next(self._ids)}", "type": "function", "function": named}
            return {"role": "assistant", "content": None, "tool_calls": [tool]}
        text = answer if isinstance(answer, str) else _dumped(answer)
        return {"role": "assistant", "content": text}

    async def _embeddings(self, request: web.Request) -> web.Response:
        body = await request.json()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        if failure := self.embedding_failure:
            return failure.response()
        self.embedded.extend(texts)
        data = [
            {"object": "embedding", "index": i, "embedding": [float(each) for each in hashed(text)]}
            for i, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        answer = {"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}
        return web.json_response(answer)

    async def _rerank(self, request: web.Request) -> web.Response:
        body = await request.json()
        relevance = self.relevance
        if isinstance(relevance, Failure):
            return relevance.response()
        scores = [float(relevance(text)) for text in body["documents"]]
        found = [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]
        return web.json_response({"results": sorted(found, key=lambda r: -r["relevance_score"])})


# Runs inside the AstrBot process before anything else: it is as much later as the file in
# HARNESS_CLOCK says, seconds, and only loopback connections are allowed.
_GUARD = """
import socket
import time

if "HARNESS_CLOCK" in os.environ:
    _time = time.time

    def _later():
        with open(os.environ["HARNESS_CLOCK"]) as clock:
            return _time() + float(clock.read())

    time.time = _later

_LOCAL = {"localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "", None}
_getaddrinfo, _connect, _connect_ex = (
    socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex
)


def _check(host):
    if isinstance(host, bytes):
        host = host.decode()
    if host in _LOCAL or host.startswith("127.") or host == socket.gethostname():
        return
    raise socket.gaierror(socket.EAI_AGAIN, "blocked by test harness: " + host)


def _guarded_getaddrinfo(host, *args, **kwargs):
    _check(host)
    return _getaddrinfo(host, *args, **kwargs)


def _guard(call):
    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _check(address[0])
        return call(self, address)
    return guarded


socket.getaddrinfo = _guarded_getaddrinfo
socket.socket.connect = _guard(_connect)
socket.socket.connect_ex = _guard(_connect_ex)
"""


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(path: Path) -> dict[str, Any]:
    """A configuration; nothing if there is no such file."""
    return json.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}


def deep_merge(base: dict, override: dict) -> dict:
    """Return ``base`` with ``override`` merged into it recursively."""
    merged = dict(base)
    for key, value in override.items():
        known = merged.get(key)
        deep = isinstance(value, dict) and isinstance(known, dict)
        merged[key] = deep_merge(known, value) if deep else value
    return merged


def _hear_interrupts() -> None:
    """In the child: whoever was started in a shell's background ignores SIGINT, and so would
    everything below it; AstrBot would then never end by itself."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class AstrBotInstance:
    """A throw-away AstrBot root and the process that runs in it.

    Args:
        plugins: Functions that install one below the directory they are given.
        plugin_configs: Values for ``data/config/<name>_config.json``, others get their default.
        config: Overrides merged into ``data/cmd_config.json``.
        other_port: Where a second OneBot platform listens, if there is one.
        log_level: Of AstrBot; users have INFO.
        block_network: Refuse non-loopback connections of the process.
    """

    root: Path
    llm: FakeOpenAI
    plugins: list[Callable[[Path], Path]] = field(default_factory=list)
    plugin_configs: dict[str, dict] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    providers: list[dict[str, Any]] = field(default_factory=list)
    other_port: int = 0
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)
    streaming: bool = False
    log_level: str = "DEBUG"
    block_network: bool = True
    start_timeout: float = 120.0
    password: str = DASHBOARD_PASSWORD
    spawning: dict[str, Any] = field(default_factory=lambda: {"preexec_fn": _hear_interrupts})

    def __post_init__(self) -> None:
        self.root = Path(self.root).resolve()
        self.dashboard_port = free_port()
        self.onebot_port = free_port()
        self.process: asyncio.subprocess.Process | None = None
        self.startup_seconds = 0.0
        self._http: ClientSession | None = None
        self._token = ""

    @property
    def data_dir(self) -> Path:
        return self.root / "data"

    @property
    def log_path(self) -> Path:
        return self.root / "astrbot.log"

    @property
    def log(self) -> str:
        """Output of the process so far, without colour codes."""
        if not self.log_path.exists():
            return ""
        text = self.log_path.read_text(encoding="utf-8", errors="replace")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def prepare(self) -> None:
        """Write configuration and plugins; keeps existing data for restarts."""
        for name in ("plugins", "config", "temp"):
            (self.data_dir / name).mkdir(parents=True, exist_ok=True)
        (self.root / ".astrbot").touch()
        config_path = self.data_dir / "cmd_config.json"
        merged = deep_merge(deep_merge(_read(config_path), self._base_config()), self.config)
        config_path.write_text(_dumped(merged), encoding="utf-8")
        for install in self.plugins:
            install(self.data_dir / "plugins")
        for plugin, values in self.plugin_configs.items():
            path = self.data_dir / "config" / f"{plugin}_config.json"
            path.write_text(_dumped(deep_merge(_read(path), values)), encoding="utf-8")
        guard = self.root / "guard"
        guard.mkdir(exist_ok=True)
        (guard / "sitecustomize.py").write_text(HIDING.read_text() + _GUARD)

    def _base_config(self) -> dict[str, Any]:
        """Settings that make AstrBot deterministic and offline."""
        platforms = {ONEBOT_PLATFORM_ID: self.onebot_port, OTHER_PLATFORM_ID: self.other_port}
        onebot = {"type": "aiocqhttp", "enable": True, "ws_reverse_host": "127.0.0.1"}
        source = {
            "id": "fake", "provider": "openai", "type": "openai_chat_completion",
            "provider_type": "chat_completion", "enable": True, "key": ["sk-fake"],
            "api_base": self.llm.base_url, "timeout": 30,
        }  # fmt: skip
        chat = {"provider_type": "chat_completion", "provider_source_id": "fake", "enable": True}
        chat |= {"modalities": [], "max_context_tokens": 128000}
        embedding = {
            "id": EMBEDDING_PROVIDER_ID, "type": "openai_embedding", "provider": "openai",
            "provider_type": "embedding", "enable": True, "embedding_api_key": "sk-fake",
            "embedding_api_base": self.llm.base_url, "embedding_model": "embedding-model",
            "embedding_dimensions": len(hashed("")), "timeout": 20,
        }  # fmt: skip
        rerank = {
            "id": RERANK_PROVIDER_ID, "type": "vllm_rerank", "provider": "vllm",
            "provider_type": "rerank", "enable": True, "rerank_model": "rerank-model",
            "rerank_api_base": self.llm.base_url.removesuffix("/v1"), "timeout": 20,
        }  # fmt: skip
        local = {"model": {"provider_id": CHAT_PROVIDER_ID}}
        return {
            "platform": [
                onebot | {"id": id, "ws_reverse_port": port, "ws_reverse_token": ""}
                for id, port in platforms.items()
                if port
            ],
            "platform_settings": {"rate_limit": {"count": 0}},
            "provider_sources": [source],
            "provider": [
                {**chat, "id": CHAT_PROVIDER_ID, "model": "chat-model"},
                {**chat, "id": EXTRACT_PROVIDER_ID, "model": "extract-model"},
                *(embedding, rerank, *self.providers),
            ],
            "agent_runner": {"runner_type": "local", "config": local},
            "provider_settings": {
                "streaming_response": self.streaming,
                "unsupported_streaming_strategy": "turn_off",
                "datetime_system_prompt": False,
            },
            "admins_id": [str(ADMIN_ID), DASHBOARD_USER],
            "dashboard": {"host": "127.0.0.1", "port": self.dashboard_port},
            "disable_metrics": True,
            "log_level": self.log_level,
        }

    async def __aenter__(self) -> AstrBotInstance:
        self.prepare()
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the process and wait until dashboard and OneBot port answer."""
        hidden = ("ASTRBOT_", "OPENAI_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
        env |= {
            "ASTRBOT_DASHBOARD_INITIAL_PASSWORD": self.password, "ASTRBOT_DISABLE_METRICS": "1",
            "HOME": str(self.root), "PYTHONUNBUFFERED": "1", "NO_COLOR": "1",
        } | self.env  # fmt: skip
        if self.block_network:
            env |= {"PYTHONPATH": str(self.root / "guard"), "PYTHONDONTWRITEBYTECODE": "1"}
        begun = time.monotonic()
        with self.log_path.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                self.python, "-m", "astrbot.cli", "run", cwd=self.root, env=env,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, **self.spawning,
            )  # fmt: skip
        self._http = ClientSession(
            f"http://127.0.0.1:{self.dashboard_port}", timeout=ClientTimeout(total=180)
        )
        try:
            await wait_until(self._is_up, self.start_timeout, "AstrBot to start")
        except BaseException:
            await self.stop()
            raise
        self.startup_seconds = time.monotonic() - begun
        await self.login()

    async def _is_up(self) -> bool:
        if self.process and self.process.returncode is not None:
            raise RuntimeError(f"AstrBot exited:\n{self.log[-4000:]}")
        for port in (self.dashboard_port, self.onebot_port):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return False
            writer.close()
        return True

    async def stop(self, sig: int = signal.SIGINT, timeout: float = 30.0) -> int | None:
        """Stop the process and return its exit code.

        SIGINT is what Ctrl-C sends and runs the plugins' ``terminate()``. SIGTERM
        (``docker stop``) and SIGKILL end AstrBot without it.
        """
        if self._http:
            await self._http.close()
            self._http = None
        if not self.process:
            return None
        process, self.process = self.process, None
        if process.returncode is None:
            process.send_signal(sig)
            try:
                await asyncio.wait_for(process.wait(), timeout)
            except TimeoutError:
                process.kill()
                await process.wait()
        return process.returncode

    async def restart(self, sig: int = signal.SIGINT) -> None:
        await self.stop(sig)
        await self.start()

    async def login(self) -> None:
        account = {"username": DASHBOARD_USER, "password": self.password}
        self._token = (await self.api("POST", "/api/v1/auth/login", json=account))["token"]

    async def api(self, method: str, path: str, **kwargs: Any) -> Any:
        """Call the dashboard API and return ``data`` of its answer, which must be ``ok``."""
        async with self._request(method, path, **kwargs) as response:
            payload = await response.json(content_type=None)
        if not isinstance(payload, dict) or payload.get("status") != "ok":
            raise RuntimeError(f"{method} {path}: {payload}")
        return payload.get("data")

    def _request(self, method: str, path: str, **kwargs: Any):
        headers = dict(kwargs.pop("headers", {}))
        if self._token:
            headers.setdefault("Authorization", f"Bearer {self._token}")
        return self._http.request(method, path, headers=headers, **kwargs)

    async def create_persona(
        self, persona_id: str, prompt: str = "", tools: Sequence[str] | None = None
    ) -> None:
        """Create one that may use some tools; ``None`` is all."""
        told = {"persona_id": persona_id, "system_prompt": prompt or f"You are {persona_id}."}
        await self.api("POST", "/api/v1/personas", json=told | {"tools": tools})

    async def conversations(self, umo: str) -> list[dict[str, Any]]:
        """Conversations of one session, newest first."""
        data = await self.api("GET", "/api/v1/conversations", params={"page": 1, "page_size": 100})
        return [row for row in data["conversations"] if row["user_id"] == umo]

    async def history(self, umo: str, cid: str) -> list[dict[str, Any]]:
        """Stored messages of one conversation.

        AstrBot stores a turn shortly *after* the reply was sent, so poll this with
        ``wait_until`` right after a reply.
        """
        data = await self.api("GET", f"/api/v1/conversations/{cid}", params={"user_id": umo})
        return json.loads(data["history"])

    async def set_conversation_persona(self, umo: str, cid: str, persona_id: str) -> None:
        """Bind a persona to a conversation (``[%None]`` means no persona)."""
        path, persona = f"/api/v1/conversations/{cid}", {"persona_id": persona_id}
        await self.api("PATCH", path, params={"user_id": umo}, json=persona)

    async def force_session_persona(self, umo: str, persona_id: str | None) -> None:
        """Set or clear the session rule that overrides every conversation."""
        rule = {"umo": umo, "rule_key": "session_service_config"}
        if persona_id is None:
            await self.api("POST", "/api/v1/sessions/rules/delete", json=rule)
            return
        rule["rule_value"] = {"persona_id": persona_id, "session_enabled": True}
        await self.api("POST", "/api/v1/sessions/rules", json=rule)

    async def reload_plugin(self, plugin: str) -> None:
        await self.api("POST", "/api/v1/plugins/reload", json={"plugin_id": plugin})

    async def set_plugin_enabled(self, plugin: str, enabled: bool) -> None:
        wanted = {"plugin_id": plugin, "enabled": enabled}
        await self.api("PATCH", "/api/v1/plugins/enabled", json=wanted)

    async def upload_plugin(self, archive: Path) -> None:
        """Install a plugin's zip the way the dashboard does.

        AstrBot may refuse, before 4.29 also because it is installed already: a ``RuntimeError``.
        """
        form = FormData()
        form.add_field("file", archive.read_bytes(), filename=archive.name)
        await self.api("POST", "/api/v1/plugins/install/upload", data=form)

    async def uninstall_plugin(
        self, plugin: str, *, delete_config: bool = False, delete_data: bool = False
    ) -> None:
        too = {"delete_config": delete_config, "delete_data": delete_data}
        await self.api("DELETE", "/api/v1/plugins/by-id", params={"plugin_id": plugin}, json=too)

    async def plugin_versions(self) -> dict[str, str]:
        return {row["name"]: row["version"] for row in await self.api("GET", "/api/v1/plugins")}

    async def plugin_config(self, plugin: str) -> dict[str, Any]:
        data = await self.api("GET", "/api/v1/plugins/config", params={"plugin_id": plugin})
        return data["config"]

    async def save_plugin_config(self, plugin: str, values: dict[str, Any]) -> None:
        """Save plugin settings the way the dashboard does (reloads the plugin)."""
        config = deep_merge(await self.plugin_config(plugin), values)
        saved = {"plugin_id": plugin, "config": config}
        await self.api("PUT", "/api/v1/plugins/config", json=saved)

    async def web_chat(self, text: str, session_id: str) -> str:
        """Chat through the dashboard's own WebChat and return the full answer."""
        body: dict[str, Any] = {"session_id": session_id, "username": DASHBOARD_USER}
        body |= {"enable_streaming": self.streaming, "message": [{"type": "plain", "text": text}]}
        answer = []
        async with self._request("POST", "/api/v1/chat", json=body) as response:
            async for raw in response.content:
                line = raw.decode().strip()
                if not line.startswith("data:"):
                    continue
                event = json.loads(line[5:])
                if event.get("type") == "plain" and not event.get("chain_type"):
                    answer.append(event["data"])
                if event.get("type") in ("end", "complete"):
                    break
        return "".join(answer)


@dataclass
class BotMessage:
    """A message the bot sent through the OneBot API."""

    segments: list[dict[str, Any]]
    files: list[str]
    """What is in the files that are sent."""

    @property
    def text(self) -> str:
        return "".join(s["data"].get("text", "") for s in self.segments if s["type"] == "text")


class OneBotClient:
    """A QQ account connected to AstrBot's aiocqhttp adapter.

    It listens at ``port`` if not where the first one does; each client's first message has an id of
    its own.
    """

    def __init__(
        self, bot: AstrBotInstance, self_id: int = BOT_ID, *, port: int = 0, first_id: int = 1
    ) -> None:
        self.bot = bot
        self.self_id = self_id
        self._port = port or bot.onebot_port
        self.nicknames: dict[int, str] = {}
        self._messages: dict[int, dict] = {}
        self._inbox: dict[tuple[str, int], asyncio.Queue[BotMessage]] = defaultdict(asyncio.Queue)
        self._ids = itertools.count(first_id)

    async def __aenter__(self) -> OneBotClient:
        await self.connect()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """(Re)connect, for example after the AstrBot process was restarted."""
        self._session = ClientSession()
        try:
            headers = {"X-Client-Role": "Universal", "User-Agent": "OneBot/11"}
            headers["X-Self-ID"] = str(self.self_id)
            url = f"ws://127.0.0.1:{self._port}/ws"
            self._ws = await self._session.ws_connect(url, headers=headers)
        except BaseException:
            await self._session.close()
            raise
        self._reader = asyncio.create_task(self._read())
        await self._push(post_type="meta_event", meta_event_type="lifecycle", sub_type="connect")

    async def close(self) -> None:
        self._reader.cancel()
        await self._ws.close()
        await self._session.close()

    @staticmethod
    def umo(*, user_id: int | None = None, group_id: int | None = None) -> str:
        """unified_msg_origin AstrBot uses for a private chat or a group."""
        if group_id is not None:
            return f"{ONEBOT_PLATFORM_ID}:GroupMessage:{group_id}"
        return f"{ONEBOT_PLATFORM_ID}:FriendMessage:{user_id}"

    async def send_private(
        self, user_id: int, text: str | list[dict], name: str | None = None
    ) -> int:
        """Send a private message as ``user_id``; returns the message id."""
        kind = {"message_type": "private", "sub_type": "friend"}
        return await self._send_message(user_id, text, name, **kind)

    async def send_group(
        self,
        group_id: int,
        user_id: int,
        text: str | list[dict],
        name: str | None = None,
        *,
        at_bot: bool = False,
    ) -> int:
        """Send a group message as ``user_id``; returns the message id."""
        segments = [segment("text", text=text)] if isinstance(text, str) else text
        if at_bot:
            segments = [segment("at", qq=str(self.self_id)), *segments]
        kind = {"message_type": "group", "sub_type": "normal", "group_id": group_id}
        kind["group_name"] = f"group-{group_id}"
        return await self._send_message(user_id, segments, name, **kind)

    async def take_back(self, message_id: int) -> None:
        """Take a message back (撤回), whoever sent it."""
        message = self._messages[message_id]
        notice = {"post_type": "notice", "message_id": message_id, "user_id": message["user_id"]}
        if group := message.get("group_id"):
            notice |= {"group_id": group, "operator_id": message["user_id"]}
            await self._push(notice_type="group_recall", **notice)
        else:
            await self._push(notice_type="friend_recall", **notice)

    def last_id(self, user_id: int, text: str) -> int:
        """Id of the newest message of somebody (the bot, too) that has ``text`` in it."""
        return next(
            id
            for id, message in sorted(self._messages.items(), reverse=True)
            if message["user_id"] == user_id
            and text in json.dumps(message["message"], ensure_ascii=False)
        )

    async def ask_private(
        self, user_id: int, text: str | list[dict], name: str | None = None, **wait: Any
    ) -> str:
        """Send a private message and return the text of the next reply."""
        self.drain(user_id=user_id)
        await self.send_private(user_id, text, name)
        return (await self.next_message(user_id=user_id, **wait)).text

    async def ask_group(
        self,
        group_id: int,
        user_id: int,
        text: str | list[dict],
        name: str | None = None,
        timeout: float = 20.0,
        **kwargs: Any,
    ) -> str:
        """Send a group message (mentioning the bot) and return the next reply."""
        self.drain(group_id=group_id)
        kwargs.setdefault("at_bot", True)
        await self.send_group(group_id, user_id, text, name, **kwargs)
        return (await self.next_message(group_id=group_id, timeout=timeout)).text

    async def next_message(
        self, *, user_id: int | None = None, group_id: int | None = None, timeout: float = 20.0
    ) -> BotMessage:
        """Next message the bot sends to this chat."""
        queue = self._inbox[_chat_key(user_id, group_id)]
        try:
            return await asyncio.wait_for(queue.get(), timeout)
        except TimeoutError:
            raise TimeoutError(
                f"no bot message within {timeout}s; log tail:\n{self.bot.log[-3000:]}"
            ) from None

    def drain(self, *, user_id: int | None = None, group_id: int | None = None) -> list[BotMessage]:
        """Take all messages not read yet for this chat."""
        queue = self._inbox[_chat_key(user_id, group_id)]
        return [queue.get_nowait() for _ in range(queue.qsize())]

    async def _send_message(
        self, user_id: int, text: str | list[dict], name: str | None, **fields: Any
    ) -> int:
        if name:
            self.nicknames[user_id] = name
        segments = [segment("text", text=text)] if isinstance(text, str) else text
        message_id = next(self._ids)
        event = {
            "post_type": "message", "message_id": message_id, "user_id": user_id,
            "message": segments,
            "raw_message": "".join(s["data"].get("text", "") for s in segments), "font": 0,
            "sender": self._sender(user_id), **fields,
        }  # fmt: skip
        self._messages[message_id] = event
        await self._push(**event)
        return message_id

    def _sender(self, user_id: int) -> dict[str, Any]:
        name = self.nicknames.get(user_id, f"user-{user_id}")
        return {"user_id": user_id, "nickname": name, "card": "", "role": "member"}

    async def _push(self, **event: Any) -> None:
        event |= {"time": int(time.time()), "self_id": self.self_id}
        await self._ws.send_json(event)

    async def _read(self) -> None:
        async for raw in self._ws:
            if raw.type != WSMsgType.TEXT:
                break
            request = raw.json()
            try:
                data = self._handle_action(request["action"], request.get("params") or {})
                status, retcode = "ok", 0
            except KeyError as error:
                data, status, retcode = {"missing": str(error)}, "failed", 1404
            await self._ws.send_json(
                {"status": status, "retcode": retcode, "data": data, "echo": request.get("echo")}
            )

    def _handle_action(self, action: str, params: dict) -> Any:
        if action in ("send_private_msg", "send_group_msg", "send_msg"):
            return self._record(params)
        if action == "get_msg":
            return self._messages[int(params["message_id"])]
        if action == "get_group_info":
            gid = int(params["group_id"])
            return {"group_id": gid, "group_name": f"group-{gid}", "member_count": 3}
        if action == "get_group_member_list":
            return [self._sender(user_id) for user_id in self.nicknames]
        if action in ("get_group_member_info", "get_stranger_info"):
            return self._sender(int(params["user_id"]))
        if action == "get_login_info":
            return {"user_id": self.self_id, "nickname": "bot"}
        raise KeyError(action)

    def _record(self, params: dict) -> dict[str, int]:
        group_id = params.get("group_id")
        user_id = params.get("user_id")
        message = params["message"]
        segments = message if isinstance(message, list) else [segment("text", text=message)]
        paths = [s["data"]["file"] for s in segments if s["type"] == "file"]
        files = [Path(path.removeprefix("file://")).read_text("utf-8") for path in paths]
        message_id = next(self._ids)
        self._messages[message_id] = {
            "message_id": message_id, "message_type": "group" if group_id else "private",
            "time": int(time.time()), "self_id": self.self_id, "user_id": self.self_id,
            "sender": self._sender(self.self_id), "message": segments,
            **({"group_id": group_id} if group_id else {}),
        }  # fmt: skip
        self._inbox[_chat_key(user_id, group_id)].put_nowait(BotMessage(segments, files))
        return {"message_id": message_id}


def segment(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def _chat_key(user_id: int | None, group_id: int | None) -> tuple[str, int]:
    return ("group", int(group_id)) if group_id else ("user", int(user_id or 0))
