"""Settings that are changed while the memory is open, and kept where AstrBot keeps them."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from astrbot.core.config.astrbot_config import AstrBotConfig

from graph_memory.astrbot import Runtime
from graph_memory.errors import SettingError
from graph_memory.locales import explain
from tests.sources import ROOT

from .test_runtime import started

Tune = Callable[[Mapping[str, Any]], Awaitable[None]]


def config_at(path: Path) -> AstrBotConfig:
    """AstrBot's own object, from this plugin's schema."""
    schema = json.loads((ROOT / "_conf_schema.json").read_text("utf-8"))
    config = AstrBotConfig(str(path), schema=schema)
    config.update(local_embedding_model="none", enable_function_calling=False)
    return config


@asynccontextmanager
async def tuned(config: Mapping[str, Any], directory: Path) -> AsyncIterator[tuple[Runtime, Any]]:
    """A plugin that is open, and what its web UI was handed for keeping settings."""
    handed: list[Tune | None] = []

    class Page:
        port = 1

        async def stop(self) -> None:
            pass

    async def serve(_memory: Any, _access: Any, _: Any, tune: Tune | None, *_more: Any) -> Page:
        handed.append(tune)
        return Page()

    async with started(directory / "memory", config, serve) as one:
        assert one.memory
        (tune,) = handed
        yield one, tune


async def test_a_change_is_kept_and_in_use_without_a_reload(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    async with tuned(config_at(path), tmp_path) as (one, tune):
        memory = one.memory
        await tune({"time_decay_rate": "2.5", "prune_interval": 6, "webui_key": "not from here"})
        assert one.memory is memory
        assert memory.settings.time_decay_rate == one.settings.time_decay_rate == 2.5
    kept = json.loads(path.read_text("utf-8-sig"))
    assert (kept["time_decay_rate"], kept["prune_interval"], kept["webui_key"]) == (2.5, 6, "")
    async with tuned(config_at(path), tmp_path) as (again, _):
        assert again.settings.prune_interval == 6


async def test_groups_that_were_turned_off_are_a_list_now(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"enable_group_learning": false, "never_remember": ["7"]}', "utf-8-sig")
    async with tuned(config_at(path), tmp_path) as (one, _):
        assert one.settings.never_remember == ("7", "*:GroupMessage:*")
    kept = json.loads(path.read_text("utf-8-sig"))
    assert kept["never_remember"] == ["7", "*:GroupMessage:*"]
    assert kept["enable_group_learning"] is True
    again = config_at(path)
    again.save_config({"never_remember": ["7"]})  # the owner lets groups be remembered again
    async with tuned(config_at(path), tmp_path) as (two, _):
        assert two.settings.never_remember == ("7",)


async def test_what_cannot_be_used_or_kept_changes_nothing(tmp_path, monkeypatch):
    config = config_at(tmp_path / "config.json")

    def full(*_: Any, **__: Any) -> None:
        config.update(time_decay_rate=9.0)
        raise OSError(28, "No space left on device")

    async with tuned(config, tmp_path) as (one, tune):
        with pytest.raises(SettingError, match="min_importance_threshold"):
            await tune({"min_importance_threshold": 2})
        monkeypatch.setattr(AstrBotConfig, "save_config", full)
        with pytest.raises(SettingError, match="could not be saved") as caught:
            await tune({"time_decay_rate": 9})
        assert "存不下设置" in explain("zh", caught.value)
        assert config["time_decay_rate"] == one.settings.time_decay_rate == 1.0
        assert one.memory.settings.time_decay_rate == 1.0


async def test_without_a_file_of_astrbot_nothing_can_be_kept(tmp_path: Path) -> None:
    plain = {"local_embedding_model": "none", "enable_function_calling": False}
    async with tuned(plain, tmp_path) as (_, tune):
        assert tune is None
