"""Repeated trouble is logged once, and again if it comes back."""

from __future__ import annotations

import logging

import pytest

from graph_memory.errors import StorageError
from graph_memory.log_once import LogOnce

LOGGER = logging.getLogger("graph_memory.test")


def test_trouble_is_logged_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    log = LogOnce(LOGGER)
    for _ in range(3):
        log.report("没有做成", StorageError("磁盘满了"))
    log.report("别的", key="没有做成")
    log.clear("没有做成")
    log.report("没有做成", KeyError("谁也没有料到"))
    log.report("只是一句话")
    first, second, third = caplog.records
    assert (first.getMessage(), first.exc_info) == ("没有做成: 磁盘满了", None)
    assert second.exc_info
    assert third.getMessage() == "只是一句话"


def test_after_a_while_it_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    log = LogOnce(LOGGER, logging.ERROR, again_after=0.0)
    for _ in range(2):
        log.report("没有做成", StorageError("磁盘满了"))
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
