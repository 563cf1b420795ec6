"""The zip through AstrBot's own dashboard: install, update, switch off, uninstall."""

import re
import socket
import zipfile
from pathlib import Path

import pytest

from tests.instruments.dev import release

from .world import PLUGIN, World, injected, living

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]

OLDER = "v0.0.1"
GONE = f"{PLUGIN}/graph_memory/gone.py"
"""A module that only the older version has."""
PIP_SKIPPED = rf"plugin {PLUGIN} are already satisfied|插件 {PLUGIN} 的依赖已满足"


def older(archive: Path, folder: Path) -> Path:
    """A zip that differs from ``archive`` as one of an older version would."""
    target = folder / archive.name
    with zipfile.ZipFile(archive) as new, zipfile.ZipFile(target, "w") as old:
        for entry in new.infolist():
            content = new.read(entry)
            if entry.filename == f"{PLUGIN}/metadata.yaml":
                content = content.replace(release.metadata("version").encode(), OLDER.encode())
            old.writestr(entry, content)
        old.writestr(GONE, b"")
    return target


async def update(world: World, archive: Path) -> None:
    """What a user does for a newer version: some versions of AstrBot want the old one gone."""
    try:
        await world.bot.upload_plugin(archive)
    except RuntimeError:
        if f"目录 {PLUGIN} 已存在" not in world.bot.log:
            raise
        await world.bot.uninstall_plugin(PLUGIN)
        await world.bot.upload_plugin(archive)
    await world.ready()


def is_served(world: World) -> bool:
    """Whether anything listens where the memory page is."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", world.web_port)) == 0


async def test_from_the_first_installation_to_the_last(tmp_path: Path) -> None:
    archive = release.package(tmp_path / "dist")
    plugin = tmp_path / "astrbot" / "data" / "plugins" / PLUGIN
    config = tmp_path / "astrbot" / "data" / "config" / f"{PLUGIN}_config.json"
    async with living(tmp_path / "astrbot", install=False) as world:
        # Installed from the zip; what it requires is there, so nothing is downloaded.
        await world.bot.upload_plugin(older(archive, tmp_path))
        await world.ready()
        assert (await world.bot.plugin_versions())[PLUGIN] == OLDER
        assert (plugin.parent / GONE).is_file()
        assert re.search(PIP_SKIPPED, world.bot.log)
        await world.say(801, "我对花生过敏", "小金")
        await world.learn()

        # Updated over it: the new code alone, the old memory.
        await update(world, archive)
        assert (await world.bot.plugin_versions())[PLUGIN] == release.metadata("version")
        assert not (plugin.parent / GONE).exists()
        files = {path.relative_to(plugin) for path in plugin.rglob("*") if path.is_file()}
        assert files == set(release.runtime_files())
        await world.qq.ask_private(801, "/new")
        assert "花生" in injected(await world.say(801, "我对什么过敏？"))
        assert is_served(world)

        # Switched off and on again.
        await world.bot.set_plugin_enabled(PLUGIN, False)
        assert not is_served(world)
        await world.qq.ask_private(801, "/new")
        assert injected(await world.say(801, "我对什么过敏？")) == ""
        await world.bot.set_plugin_enabled(PLUGIN, True)
        await world.ready()
        assert "花生" in injected(await world.say(801, "我对什么东西过敏？"))

        # Uninstalled but for the data: the bot forgets nothing if it comes back.
        await world.bot.uninstall_plugin(PLUGIN)
        assert not plugin.exists()
        assert (world.data / "journal.sqlite3").is_file()
        assert config.is_file()
        assert not is_served(world)
        assert (await world.say(801, "还在吗？")).answer == "echo: 还在吗？"
        await world.bot.upload_plugin(archive)
        await world.ready()
        await world.qq.ask_private(801, "/new")
        assert "花生" in injected(await world.say(801, "我对什么过敏？"))

        # Uninstalled with everything: nothing is left, nothing comes back.
        await world.bot.uninstall_plugin(PLUGIN, delete_config=True, delete_data=True)
        assert not world.data.exists()
        assert not config.exists()
        assert injected(await world.say(801, "我对什么过敏？")) == ""
        assert not world.data.exists()
        await world.bot.upload_plugin(archive)
        await world.ready()
        assert "花生" not in await world.qq.ask_private(801, "/memory mine")
        assert not re.search(r"pip install|Collecting ", world.bot.log)
        assert not re.search(rf'File ".*/{PLUGIN}/', world.bot.log), "something was raised"
