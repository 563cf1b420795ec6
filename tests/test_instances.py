"""Accounts of ours, in a real journal."""

import pytest

from graph_memory.coordination import SILENT, Instances
from graph_memory.errors import JournalError
from graph_memory.retention import DAY
from graph_memory.store import Journal

from .makers import T0


async def test_accounts_are_known_after_a_restart_until_they_fall_silent(journal: Journal) -> None:
    first = Instances(journal, lambda: T0)
    await first.register("aiocqhttp", "1")
    await first.register("discord", "1")
    later = Instances(journal, lambda: T0 + SILENT - DAY)
    await later.load()
    assert later.accounts == {"aiocqhttp": {"1"}, "discord": {"1"}}
    assert later.seen["aiocqhttp", "1"] == T0
    await later.register("discord", "1")
    last = Instances(journal, lambda: T0 + SILENT + 1)
    await last.load()
    assert last.accounts == {"discord": {"1"}}


async def test_what_cannot_be_written_is_not_tried_with_every_message(journal: Journal) -> None:
    instances = Instances(journal, lambda: T0)
    await journal.alter(lambda db, _tell: db.execute("DROP TABLE instance"))
    with pytest.raises(JournalError):
        await instances.register("aiocqhttp", "1")
    assert instances.accounts == {"aiocqhttp": {"1"}}
    assert instances.seen["aiocqhttp", "1"] == T0


@pytest.mark.parametrize(("platform", "account"), [
    ("aiocqhttp", ""), ("telegram", "None"), ("qq_official", "10001"),
    ("qq_official_webhook", "10001"),
])  # fmt: skip
async def test_nobody_becomes_a_bot_by_mistake(journal, platform, account):
    instances = Instances(journal, lambda: T0)
    await instances.register(platform, account)
    assert not instances.accounts
    assert instances.seen[platform, account] == T0  # it is not tried with every message
