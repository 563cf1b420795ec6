"""A network in between that can be cut, held up, or lose one answer."""

import asyncio
import socket
import threading
from contextlib import suppress

COMMITTED = b"COMMIT\x00"
"""How PostgreSQL answers that a transaction stands."""


class Proxy:
    """Passes connections on to a port of this machine, as long as it is let.

    Attributes:
        port: Where it listens.
        target: The port that it passes on to.
        is_held: Nothing passes while this is set; nothing is lost either.
        is_deaf: What the server answers is thrown away.
        loses_answer: The next answer that a commit stands is not passed on: its connection
            is cut instead.
    """

    def __init__(self, target: int) -> None:
        self.is_held = self.is_deaf = self.loses_answer = False
        self.target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def _run(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, sock=listener))
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    def cut(self) -> None:
        self._loop.call_soon_threadsafe(self._cut)

    def close(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, there[1]}
        self._open |= pair
        ways = self._pass(reader, there[1], False), self._pass(there[0], writer, True)
        with suppress(OSError):
            await asyncio.wait(
                [asyncio.ensure_future(way) for way in ways], return_when=asyncio.FIRST_COMPLETED
            )
        self._open -= pair
        for each in pair:
            each.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool
    ) -> None:
        with suppress(ConnectionError):
            await self._pass_all(reader, writer, is_answer)

    async def _pass_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool
    ) -> None:
        while data := await reader.read(1 << 16):
            while self.is_held:
                await asyncio.sleep(0.02)
            if is_answer and self.loses_answer and COMMITTED in data:
                self.loses_answer = False
                return
            if not (is_answer and self.is_deaf):
                writer.write(data)
                await writer.drain()
