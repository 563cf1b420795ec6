"""HTTP server inside the bot's own event loop, with limits on connections."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from importlib import import_module
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .core import access, errors

GRACE = 5.0
"""Seconds that :meth:`WebServer.stop` takes at most."""
MAX_CONNECTIONS = 64
"""Open at a time, of all addresses: the bot needs the process's other descriptors."""
MAX_FROM_ONE = 32
"""Open at a time from one address. Browsers open six; behind a proxy all share one address."""
BACKLOG = 16
"""Connections that are accepted at a time, before those above the limits are dropped."""
PATIENCE = 15.0
"""Seconds a client may take for the head of a request, its body, or to read on."""


_REASONS = {
    errno.EADDRINUSE: (
        "webui_port",
        "port {port} is used by another program (another bot, or this one before a restart?);"
        " choose another port, or 0 to turn the web UI off",
    ),
    errno.EACCES: (
        "webui_port",
        "port {port} may not be used by this account; choose one above 1023",
    ),
}


class LateApp:
    """The web UI, made when it is first asked: a start without it is 0.13 s shorter.

    Args:
        given: What ``create_app`` takes.
    """

    def __init__(self, *given: Any) -> None:
        self._given = given
        self._app: Any = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._making:
            if self._app is None:
                made = await asyncio.to_thread(import_module, ".app", __package__)
                self._app = made.create_app(*self._given)
        await self._app(scope, receive, send)


class LimitedConnection(H11Protocol):
    """A connection that is dropped when there are too many or its client is too slow.

    One timer runs whenever it is the client's turn. Bodies are timed by ``guard.py``.
    """

    _timer: asyncio.TimerHandle | None = None
    _network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = access.network_of(self.client[0]) if self.client else ""
        from_there = [each for each in self.connections if each._network == self._network]  # type: ignore[union-attr]
        if len(self.connections) > MAX_CONNECTIONS or len(from_there) > MAX_FROM_ONE:
            self.connections.discard(self)
            transport.abort()
        else:
            self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timer()

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
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class WebServer:
    """One application on one port; may be started again after it was stopped.

    Args:
        door: What AstrBot's dashboard asks for its owner.
    """

    def __init__(self, app: ASGIApp, door: Any = None) -> None:
        self._app, self.door = app, door
        self._server: uvicorn.Server | None = None
        self.port = 0
        """The port that is served; 0 while stopped."""

    async def start(self, port: int, host: str = "127.0.0.1") -> None:
        """Serve until :meth:`stop`; returns when requests are answered.

        Args:
            port: 0 takes any free one, see :attr:`port`.

        Raises:
            SettingError: The port is taken or not allowed, or the address is not ours.
        """
        if self._server is not None:
            return
        # uvicorn ends the whole process when it cannot bind: it is handed a bound socket. Its
        # ``serve`` would take signals from the bot, and look ten times a second whether to end.
        listener = _bind(host, port)
        config = uvicorn.Config(
            self._app,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            http=LimitedConnection,
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2,
        )
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        try:
            await server.startup(sockets=[listener])
        except BaseException:
            listener.close()
            raise
        self._server = server
        self.port = int(listener.getsockname()[1])

    async def stop(self) -> None:
        """Stop serving and free the port, within five seconds; harmless when stopped."""
        server, self._server, self.port = self._server, None, 0
        if server is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await server.shutdown()


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise errors.SettingError("webui_port", f"there is no port {port}")
    is_new = ":" in host
    try:
        # It takes a port that a reload has just freed, too.
        listener = socket.create_server(
            (host, port),
            family=socket.AF_INET6 if is_new else socket.AF_INET,
            backlog=BACKLOG,
            dualstack_ipv6=is_new and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        setting, reason = _REASONS.get(
            error.errno or 0, ("webui_host", "cannot listen on {host}, port {port} ({error})")
        )
        reason = reason.format(host=host, port=port, error=error)
        raise errors.SettingError(setting, reason) from error
    listener.setblocking(False)
    return listener
