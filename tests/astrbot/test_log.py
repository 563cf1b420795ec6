"""The log goes where AstrBot's goes, and trouble is told once."""

import io
import logging

from graph_memory.astrbot.log import LogBridge


def test_bridge() -> None:
    written, logger = io.StringIO(), logging.Logger("astrbot-like", logging.INFO)
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    room = logging.getLogger("graph_memory.learning")
    earlier = LogBridge(logger).install()
    bridge = LogBridge(logger).install()  # a reload that did not end well
    room.warning("学习 %s", "失败")
    room.debug("not for this level")
    assert written.getvalue() == "WARNING 学习 失败\n"
    bridge.remove()
    earlier.remove()
    room.warning("afterwards")
    assert written.getvalue() == "WARNING 学习 失败\n"
    source = logging.getLogger("graph_memory")
    assert not [each for each in source.handlers if isinstance(each, LogBridge)]
    assert source.propagate
