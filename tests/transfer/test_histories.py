"""What other programs kept of chats, as text, and what of it comes in; ``histories.txt`` holds it.

A case begins with ``# name`` and goes on with

- a chat by its name in AstrBot, and what AstrBot kept of it: ``> `` and what somebody said, its
  parts between ``|``, and ``< `` and what was answered; ``+ `` and what was heard with its speaker;
- ``{…}``, a line of a chat file; ``into `` and where lines go that say no place;
- ``heard `` and what the plugin hears itself;
- ``import``, or ``nothing comes`` where that changes nothing;
- ``= `` and each message that has come by then, ``skipped``, ``named`` and ``episodes``.
"""

import re
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graph_memory.locales import say
from graph_memory.model import BOT, Episode, Message, Name, Session
from graph_memory.store import Journal
from graph_memory.transfer import Plan
from tests.makers import group, message, private, scan, user

from ..cases import cases
from .support import OPTIONS, brought, everything, exported, hear, put
from .test_sources import astrbot, conversation, turn

CASES = cases(Path(__file__).with_name("histories.txt"))
ROLES = {">": "user", "<": "assistant"}
SPOKEN = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
_HEARD = re.compile(r"(\S+) (\S+?)(?:\((.*?)\))?: (.*)")


def place(text: str) -> Session:
    """The chat of ``group:9``, or of ``private:1/lan`` with another persona."""
    kind, number, persona = re.fullmatch(r"(\w+):(\w+)/?(\w*)", text).groups()
    return {"group": group, "private": private}[kind](number, persona or OPTIONS.persona)


def chat_of(line: str) -> str:
    return line.partition(" ")[0]


class History:
    """Files of one case, and the journal they are imported to."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self.journal, self.folder, self.options = journal, folder, OPTIONS
        self.chats: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.chat = ""
        self.rows: list[tuple[Any, ...]] = []
        self.lines: list[str] = []
        self.heard: list[Message] = []
        self.expected: list[str] = []
        self.plan: Plan

    async def play(self, lines: list[str]) -> None:
        for line in lines:
            await self.step(line, *line.split(" ", 1))
        places = {place(text).id: text for text in map(chat_of, self.expected)}
        found = [
            f"{places.get(m.session, m.session)} {m.sender.rpartition(':')[2]}"
            f"{m.name and f'({m.name})'}: {m.text}"
            for m in await everything(self.journal)
            if m.id not in {each.id for each in self.heard}
        ]
        found.sort(key=chat_of)  # what was said in one chat stays in order
        assert found == sorted(self.expected, key=chat_of)

    async def step(self, line: str, word: str, rest: str = "") -> None:
        match word:
            case ">" | "<":
                text = re.sub(r"\{(\w+)\}", lambda key: say("zh", key[1]), rest)
                parts = text.replace(r"\n", "\n").split(" | ")
                content = [{"type": "text", "text": part} for part in parts]
                told = turn(ROLES[word], content if parts[1:] else parts[0])
                self.chats[self.chat].append(told)
            case "+":
                bot, chat, account, name, heard = re.fullmatch(
                    r"(\S+) (\S+) (\w+)\((\w+)\) (.+)", rest
                ).groups()
                about = len(self.rows), bot, chat, account, name, heard
                self.rows.append((*about, None, "2025-02-03 04:05:06", None))
            case "into":
                self.options = replace(OPTIONS, into=place(rest).circle)
            case "heard":
                await self.hear(*_HEARD.fullmatch(rest).groups(""))
            case "import":
                await self.bring()
            case "nothing":
                before = await exported(self.journal)
                await self.bring()
                assert self.plan.new == 0
                assert await exported(self.journal) == before
            case "=":
                self.expected.append(rest)
            case "skipped":
                reason, count = rest.split()
                assert self.plan.skipped == {reason: int(count)}
            case "named":
                assert [each.text for each in await scan(self.journal, Name)] == [rest]
            case "episodes":
                told = [each.messages for each in await scan(self.journal, Episode)]
                assert told == [*map(int, rest.split())]
            case _ if line.startswith("{"):
                self.lines.append(line)
            case _:
                self.chat = line

    async def hear(self, chat: str, who: str, name: str, text: str) -> None:
        here, number = place(chat), len(self.heard)
        sender = BOT if who == BOT else user(who)
        said = message(here, sender, text, SPOKEN + 20 * number, ref=f"{number}@1", name=name)
        self.heard += await hear(self.journal, here, said)

    async def bring(self) -> None:
        if self.lines:
            path = put(self.folder / "chat.jsonl", "\n".join(self.lines))
        else:
            kept = [conversation(n, *each) for n, each in enumerate(self.chats.items())]
            path = astrbot(self.folder, *kept, platform_message_history=self.rows)
        self.plan, _ = await brought(self.journal, path, self.options)
        path.unlink()


@pytest.mark.parametrize("name", CASES)
async def test_of_what_was_kept_comes_in_what_belongs_here(journal, tmp_path, name):
    await History(journal, tmp_path).play(CASES[name])
