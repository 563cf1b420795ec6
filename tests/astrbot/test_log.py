"""The log goes where AstrBot's goes, and trouble is told once."""

import logging
from collections.abc import Iterator

import pytest

from graph_memory.astrbot.log import LogBridge


class Collected(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


@pytest.fixture
def astrbot() -> Iterator[tuple[logging.Logger, Collected]]:
    """A logger that is not connected to this package's."""
    logger, collected = logging.Logger("astrbot-like", logging.INFO), Collected()
    logger.addHandler(collected)
    yield logger, collected
    source = logging.getLogger("graph_memory")
    assert not [h for h in source.handlers if isinstance(h, LogBridge)]
    assert source.propagate


def test_bridge(astrbot: tuple[logging.Logger, Collected]) -> None:
    logger, collected = astrbot
    room = logging.getLogger("graph_memory.learning")
    earlier = LogBridge(logger).install()
    bridge = LogBridge(logger).install()  # a reload that did not end well
    room.warning("学习 %s", "失败")
    room.debug("not for this level")
    assert collected.lines == ["WARNING 学习 失败"]
    bridge.remove()
    earlier.remove()
    room.warning("afterwards")
    assert len(collected.lines) == 1
