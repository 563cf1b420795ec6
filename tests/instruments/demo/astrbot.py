"""The AstrBot that ``./dev up`` runs: kept between runs, ended with its parent."""

import asyncio
import ctypes
import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.harness import (
    CHAT_PROVIDER_ID,
    DASHBOARD_USER,
    AstrBotInstance,
    FakeOpenAI,
    free_port,
    wait_until,
)
from tests.endpoint import endpoint, missing
from tests.instruments.dev import release

DASHBOARD_PORT = 6185
MEMORY_PORT = 6190
START_TIMEOUT = 180.0
"""Seconds AstrBot may take to start; the first time it compiles its modules."""
PLUGIN_SETTINGS = {"buffer_timeout": 15, "buffer_size_private": 6, "buffer_size_group": 8}
"""Learn sooner than the defaults do, so that there is something to see."""


@dataclass(frozen=True)
class Model:
    """The chat model AstrBot talks to.

    Attributes:
        stand_in: Whether it is the offline stand-in.
    """

    key: str
    base_url: str
    name: str
    stand_in: bool


def model_of(env: Mapping[str, str], stand_in: FakeOpenAI) -> tuple[Model, str]:
    """The model that the environment names, else the stand-in; and why it is that one."""
    found = endpoint(env)
    if found:
        real = Model(found.key, found.base_url, found.model, stand_in=False)
        return real, f"{found.model} ({found.base_url})"
    why = "offline stand-in, no real model; set " + ", ".join(missing(env)) + " for one"
    return Model("sk-stand-in", stand_in.base_url, "stand-in", stand_in=True), why


def port_near(wanted: int) -> int:
    """``wanted`` if nothing listens there, else a free port."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", wanted))
        except OSError:
            return free_port()
    return wanted


class DemoAstrBot(AstrBotInstance):
    """An AstrBot root below ``.dev`` and the process that runs in it."""

    def __init__(self, root: Path, llm: FakeOpenAI, model: Model) -> None:
        super().__init__(
            root, llm, [release.install], block_network=False, start_timeout=START_TIMEOUT
        )
        # A session of its own, so that Ctrl-C reaches it once: from us.
        end = _end_with_parent if sys.platform == "linux" else None
        self.spawning = {"start_new_session": True, "preexec_fn": end}
        self.model = model
        self.plugin = release.metadata("name")
        self.dashboard_port = port_near(DASHBOARD_PORT)
        self.memory_port = port_near(MEMORY_PORT)
        self._secrets = self.root / "demo.json"
        self.is_new = not self._secrets.exists()
        if self.is_new:
            self.root.mkdir(parents=True, exist_ok=True)
            # AstrBot wants capitals, small letters and digits in a password.
            keys = {"password": f"Gm1-{secrets.token_urlsafe(9)}", "key": secrets.token_urlsafe(12)}
            self._secrets.write_text(json.dumps(keys), encoding="utf-8")
            self._secrets.chmod(0o600)
        kept = json.loads(self._secrets.read_text(encoding="utf-8"))
        self.password = kept["password"]
        self.key: str = kept["key"]

    @property
    def chat_url(self) -> str:
        return f"http://127.0.0.1:{self.dashboard_port}/#/chat"

    @property
    def memory_url(self) -> str:
        return f"http://127.0.0.1:{self.memory_port}/"

    def prepare(self) -> None:
        """Write configuration and the plugin; keeps what was learned and set before."""
        super().prepare()
        self.log_path.unlink(missing_ok=True)
        path = self.data_dir / "config" / f"{self.plugin}_config.json"
        values: dict[str, Any] = dict(PLUGIN_SETTINGS)
        if path.exists():
            values = json.loads(path.read_text(encoding="utf-8-sig"))
        values |= {"webui_port": self.memory_port, "webui_key": self.key}
        path.write_text(json.dumps(values, ensure_ascii=False, indent=2), encoding="utf-8")

    async def start(self) -> None:
        """As usual; AstrBot asks nobody for another password, which it does of a given one."""
        await super().start()
        if self.is_new:
            account = {"username": DASHBOARD_USER, "password": self.password}
            account["confirm_password"] = self.password
            await self.api("POST", "/api/auth/setup-authenticated", json=account)
            await self.login()

    def _base_config(self) -> dict[str, Any]:
        config = super()._base_config()
        (source,) = config["provider_sources"]
        source |= {"key": [self.model.key], "api_base": self.model.base_url, "timeout": 120}
        chat = next(p for p in config["provider"] if p["id"] == CHAT_PROVIDER_ID)
        # No embedding provider: the local model is what a user has without settings.
        return config | {
            "provider": [chat | {"model": self.model.name}],
            "provider_settings": {"datetime_system_prompt": True},
            "log_level": "INFO",
        }

    async def memory_page_answers(self) -> bool:
        async def answers() -> bool:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.memory_port)
                writer.close()
                return True
            return False

        with suppress(TimeoutError):
            return bool(await wait_until(answers, 30.0, "the memory page"))
        return False

    async def stop(self, sig: int = signal.SIGINT, timeout: float = 30.0) -> int | None:
        """Stop AstrBot and whatever it started; returns its exit code."""
        group = self.process.pid if self.process else 0
        code = await super().stop(sig, timeout)
        if group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        return code


def _end_with_parent() -> None:
    """Ask Linux to stop this process when its parent is gone, however that ends."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGINT)
