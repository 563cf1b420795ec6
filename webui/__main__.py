"""Memory page in a process of its own, for bots that share a journal.

From the plugin's folder, once a bot has given the server its memory::

    PGPASSWORD=... GRAPH_MEMORY_JOURNAL=postgresql://gm_bot@db/memory python -m webui FOLDER

The folder holds this process's own copy of the journal. Nothing is learned here: no model is
asked, and what waits to be learned is left to the bots.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .app import create_app
from .core import embedding, errors, service, settings
from .server import WebServer

JOURNAL, KEY = "GRAPH_MEMORY_JOURNAL", "GRAPH_MEMORY_KEY"
"""Variables of the environment: how to reach the server, and the key to the page if it is not to
be made. On a command line everybody on the machine could read them."""


async def serve(folder: Path, options: settings.Settings, zone: str) -> None:
    """Show the memory until the process is told to end.

    Raises:
        GraphMemoryError: It cannot be opened; the message says what to do.
    """
    clock = ZoneInfo(zone) if zone else datetime.now().astimezone().tzinfo
    assert clock
    async with contextlib.AsyncExitStack() as stack:
        memory = await service.MemoryService.open(folder, options, zone=clock)
        stack.push_async_callback(memory.close)
        memory.use_embedder(lambda: embedding.load(embedding.BUNDLED, memory.journal, folder))
        key = await memory.access()
        web = WebServer(create_app(memory, key, options))
        await web.start(options.webui_port, options.webui_host)
        stack.push_async_callback(web.stop)
        said = f", key {key.new_key} (not shown again)" if key.new_key else ""
        sys.stdout.write(f"http://{options.webui_host}:{web.port}{said}\n")
        sys.stdout.flush()
        await _told_to_end()


async def _told_to_end() -> None:
    ending = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    await ending.wait()


def main(arguments: Sequence[str]) -> int:
    """Read the command line and serve; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m webui", description=(__doc__ or "").strip())
    parser.add_argument("folder", type=Path, help="for its copy of the journal; not a bot's own")
    parser.add_argument("--host", default=settings.HOST)
    parser.add_argument("--port", type=int, default=6190)
    parser.add_argument("--public-url", default="", help="as browsers see it, behind a proxy")
    parser.add_argument("--language", choices=("zh", "en"), default="zh")
    parser.add_argument("--zone", default="", help="such as Asia/Shanghai; by default the system's")
    given = parser.parse_args(arguments)
    journal = os.environ.get(JOURNAL, "")
    if not journal:
        parser.error(f"{JOURNAL} does not say where the bots' shared journal is")
    asked = {"shared_journal": journal, "webui_port": given.port, "webui_host": given.host}
    asked |= {"webui_public_url": given.public_url, "webui_key": os.environ.get(KEY, "")}
    options, wrong = settings.read(asked | {"language": given.language})
    if wrong:
        parser.error("; ".join(map(str, wrong)))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    given.folder.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(serve(given.folder, options, given.zone))
    except (errors.GraphMemoryError, ZoneInfoNotFoundError) as error:
        parser.exit(1, f"{error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
