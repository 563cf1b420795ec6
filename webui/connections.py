"""Limits on the connections of the web server, which runs inside the bot's process."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from .throttle import network_of

MAX_CONNECTIONS = 64
"""Open at a time, of all addresses: the bot needs the process's other descriptors."""
MAX_FROM_ONE = 32
"""Open at a time from one address. Browsers open six; behind a proxy all share one address."""
BACKLOG = 16
"""Connections that are accepted at a time, before those above the limits are dropped."""
PATIENCE = 15.0
"""Seconds a client may take for the head of a request, its body, or to read on."""


class LimitedConnection(H11Protocol):
    """A connection that is dropped when there are too many or its client is too slow.

    One timer runs whenever it is the client's turn: to send the head of a request, or to
    take what is sent. Bodies are timed by whoever reads them (``guard.py``).
    """

    _timer: asyncio.TimerHandle | None = None
    _network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        from_there = [each for each in self.connections if each._network == self._network]  # type: ignore[union-attr]
        if len(self.connections) > MAX_CONNECTIONS or len(from_there) > MAX_FROM_ONE:
            self.connections.discard(self)
            transport.abort()
        else:
            self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._time()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._time()

    def _time(self) -> None:
        """Let the timer run if and only if the client is waited for."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and not self.flow.write_paused:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
