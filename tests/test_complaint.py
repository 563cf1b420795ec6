"""Trouble that goes on is told once, and told again if it comes back."""

from __future__ import annotations

import logging

import pytest

from graph_memory.complaint import Complaint
from graph_memory.errors import StorageError


def test_it_is_made_once_until_it_is_withdrawn(caplog: pytest.LogCaptureFixture) -> None:
    complaint = Complaint(logging.getLogger("graph_memory.test"), "没有做成")
    for _ in range(3):
        complaint.make(StorageError("磁盘满了"))
    complaint.withdraw()
    complaint.make(KeyError("谁也没有料到"))
    first, second = caplog.records
    assert (first.getMessage(), first.exc_info) == ("没有做成: 磁盘满了", None)
    assert second.exc_info
