"""``/memory undo`` and ``/memory forget`` reach the very words, and never lock for ever."""

import sqlite3
from dataclasses import replace
from typing import Any

from graph_memory.deletion import retraction
from graph_memory.deletion.plan import plan_for_messages
from graph_memory.store.rows import write

from . import zhang


async def test_undo_of_remember_looks_for_what_goes_before_it_writes(commands, monkeypatch):
    looked = []

    def plan(db: sqlite3.Connection, messages: Any) -> Any:
        looked.append(db)
        return plan_for_messages(db, messages)

    def written(db: sqlite3.Connection, *more: Any) -> Any:
        assert db not in looked
        return write(db, *more)

    monkeypatch.setattr(retraction, "plan_for_messages", plan)
    monkeypatch.setattr(retraction, "write", written)
    await commands.remember(replace(zhang, text="我们周五聚餐改到韶山冲饭店"))
    assert "刚才记下的那条已删掉" in await commands.undo(zhang)
    assert len(looked) == 1
