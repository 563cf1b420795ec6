"""The program behind ``./dev up``; runs in the environment that AstrBot is installed in."""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from graph_memory.data_directory import lock
from graph_memory.errors import LockedError
from tests.e2e.harness import DASHBOARD_USER
from tests.instruments.dev.steps import WORK, tail

from . import sample
from .astrbot import DemoAstrBot, Model, model_of
from .standin import stand_in

PLAYED = "sample-played"
SIGNALS = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))
)


class Stopped(Exception):  # noqa: N818 - a wish, not an error
    """The user asked to stop."""


def say(text: str) -> None:
    print(text, flush=True)


class Demo:
    """One run of ``./dev up``; ``fresh`` forgets earlier ones."""

    def __init__(self, folder: Path, *, fresh: bool, with_sample: bool) -> None:
        self._folder = folder
        self._root = folder / "astrbot"
        self._panel = folder / "panel.txt"
        self._fresh = fresh
        self._with_sample = with_sample
        self._stop = asyncio.Event()

    async def run(self) -> int:
        """Start everything, wait for Ctrl-C, stop everything; returns the exit code."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = lock(self._folder)
        except LockedError:
            say("\n./dev up is running already in this folder / 已经在运行：\n")
            say(self._panel.read_text(encoding="utf-8") if self._panel.exists() else "starting ...")
            return 1
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        try:
            return await self._serve()
        except Stopped:
            return 0
        finally:
            self._panel.unlink(missing_ok=True)
            os.close(handle)

    async def _serve(self) -> int:
        if self._fresh and self._root.exists():
            say("   Forgetting the last run (--fresh)")
            shutil.rmtree(self._root)
        async with stand_in() as llm:
            model, why = model_of(os.environ, llm)
            bot = DemoAstrBot(self._root, llm, model)
            try:
                await self._start(bot)
                await self._play(bot, model)
                self._show(bot, why)
                return await self._watch(bot)
            except (RuntimeError, TimeoutError) as error:
                say(f"\n{error}")
                if bot.log_path.exists():
                    say(tail(bot.log_path, about=bot.plugin))
                return 1
            finally:
                say("\n   Stopping AstrBot ...")
                code = await bot.stop()
                say(f"   stopped{'' if code == 0 else f' (exit code {code})'}")

    async def _start(self, bot: DemoAstrBot) -> None:
        first = "the first time takes a minute" if bot.is_new else "about 20 s"
        say(f"\n== AstrBot\n   Starting it on port {bot.dashboard_port} ({first}) ...")
        bot.prepare()
        await self._unless_stopped(bot.start())
        say(f"   started in {bot.startup_seconds:.0f} s")
        if not await self._unless_stopped(bot.memory_page_answers()):
            raise RuntimeError("AstrBot runs, but the plugin's memory page does not come up")
        say(f"   the plugin is loaded, its memory page is on port {bot.memory_port}")

    async def _play(self, bot: DemoAstrBot, model: Model) -> None:
        marker = self._root / PLAYED
        if marker.exists() or not (model.stand_in or self._with_sample):
            return
        say(
            "\n== Sample conversation 示例对话（虚构 · made up, so that there is something to see）"
        )
        begun = time.monotonic()
        await self._unless_stopped(sample.play(bot, lambda text: say(f"   {text}")))
        marker.touch()
        say(f"   played in {time.monotonic() - begun:.0f} s")

    async def _unless_stopped(self, work: Awaitable[Any]) -> Any:
        """The result of ``work``, given up when the user asks to stop."""
        task = asyncio.ensure_future(work)
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task})
        raise Stopped

    def _show(self, bot: DemoAstrBot, why: str) -> None:
        text = Path(__file__).with_name("panel.txt").read_text(encoding="utf-8")
        panel = text.format(bot=bot, user=DASHBOARD_USER, why=why)
        self._panel.write_text(panel, encoding="utf-8")
        self._panel.chmod(0o600)
        say(f"\n{panel}")

    async def _watch(self, bot: DemoAstrBot) -> int:
        """Wait until the user asks to stop; it is an error if AstrBot ends by itself."""
        assert bot.process
        code = await self._unless_stopped(bot.process.wait())
        if self._stop.is_set():
            return 0
        raise RuntimeError(f"AstrBot ended by itself (exit code {code})")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev up", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs left")
    parser.add_argument("--sample", action="store_true", help="play the sample with a real model")
    parser.add_argument("--folder", type=Path, default=WORK / "up", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    demo = Demo(chosen.folder.resolve(), fresh=chosen.fresh, with_sample=chosen.sample)
    return asyncio.run(demo.run())


if __name__ == "__main__":
    sys.exit(main())
