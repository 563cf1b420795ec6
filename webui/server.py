"""Serving the web UI from inside the bot's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Generator

import uvicorn
from starlette.types import ASGIApp

from graph_memory.errors import SettingError

from .connections import BACKLOG, LimitedConnection

GRACE = 5.0
"""Seconds that :meth:`WebServer.stop` takes at most."""


class _Server(uvicorn.Server):
    """A uvicorn that leaves the process's signals to the bot."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class WebServer:
    """One application on one port; may be started again after it was stopped."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.port = 0
        """The port that is served; 0 while stopped."""

    async def start(self, port: int, host: str = "127.0.0.1") -> None:
        """Serve until :meth:`stop`; returns when requests are answered.

        Args:
            port: 0 takes any free one, see :attr:`port`.
            host: Address of the interface to listen on.

        Raises:
            SettingError: The port is taken or not allowed, or the address is not this
                machine's.
        """
        if self._task is not None:
            return
        # uvicorn ends the whole process when it cannot bind, so it is handed a socket
        # that is bound already. That is a probe nobody can get ahead of.
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
            backlog=BACKLOG,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]), name="gm-webui")
        try:
            while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn has no event
                await asyncio.sleep(0.01)
            if task.done():
                task.result()
                raise SettingError("webui_port", "the web UI did not start")
        except BaseException:
            task.cancel()
            listener.close()
            raise
        self._server, self._task = server, task
        self.port = int(listener.getsockname()[1])

    async def stop(self) -> None:
        """Stop serving and free the port, within five seconds; harmless when stopped."""
        server, task = self._server, self._task
        self._server, self._task, self.port = None, None, 0
        if server is None or task is None:
            return
        server.should_exit = True
        done, _ = await asyncio.wait({task}, timeout=GRACE - 1)
        if not done:
            server.force_exit = True
            task.cancel()
            await asyncio.wait({task}, timeout=1)
        if task.done() and not task.cancelled():
            task.exception()


def _bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        SettingError: It cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # A port that was just freed by a reload is in TIME_WAIT for a minute. (On
            # Windows the same option would let two programs share one port.)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _problem(error, host, port) from error
    return listener


def _problem(error: Exception, host: str, port: int) -> SettingError:
    if isinstance(error, OverflowError):
        return SettingError("webui_port", f"there is no port {port}")
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return SettingError(
                "webui_port",
                f"port {port} is used by another program (another bot, or this one before a"
                " restart?); choose another port, or 0 to turn the web UI off",
            )
        case errno.EACCES:
            return SettingError(
                "webui_port", f"port {port} may not be used by this account; choose one above 1023"
            )
        case _:
            return SettingError("webui_host", f"cannot listen on {host}, port {port} ({error})")
