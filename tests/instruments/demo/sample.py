"""A sample conversation, played through the real path: a simulated QQ account.

Three people in a group, and one of them in private with two personas. It shows facts,
a fact that replaces another, layered sharing, and who is reminded of what. ``sample.txt`` has
what they say: to a persona in private, in the group, and (``?``) to the bot in the group.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.harness import ADMIN_ID, OneBotClient

from .astrbot import DemoAstrBot

GROUP = 70001
GROUP_NAME = "示例爬山群"
PACE = 0.3
"""Seconds between messages nobody answers: AstrBot may mix up what comes all at once."""
ZHANG_SAN = ADMIN_ID  # an admin, so that he may learn at once
PEOPLE = {ZHANG_SAN: "张三", 70011: "小明", 70012: "小红"}


class SampleAccount(OneBotClient):
    """The simulated QQ account, in a group with a name."""

    async def _send_message(self, user_id: int, text: Any, name: str | None, **fields: Any) -> int:
        if "group_id" in fields:
            fields["group_name"] = GROUP_NAME
        return await super()._send_message(user_id, text, name, **fields)

    def _handle_action(self, action: str, params: dict[str, Any]) -> Any:
        answer = super()._handle_action(action, params)
        return answer | {"group_name": GROUP_NAME} if action == "get_group_info" else answer


async def play(bot: DemoAstrBot, say: Callable[[str], None]) -> None:
    """Play the sample conversation and say what goes on."""
    accounts = {name: account for account, name in PEOPLE.items()}
    told = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    *private, group = (part.splitlines() for part in told.split("== ")[1:])
    async with SampleAccount(bot) as qq:
        qq.nicknames.update(PEOPLE)
        for head, *lines in private:
            persona, prompt = head.split(" | ")
            await bot.create_persona(persona, prompt)
            say(f"张三 × {persona}")
            await qq.ask_private(ZHANG_SAN, f"/new {persona}", timeout=60)
            for line in lines:
                await qq.ask_private(ZHANG_SAN, line.partition(": ")[2], timeout=60)
        say("群聊 · group")
        for line in group[1:]:
            name, _, text = line.partition(": ")
            if name.endswith("?"):
                await qq.ask_group(GROUP, accounts[name[:-1]], text, timeout=60)
            else:
                await qq.send_group(GROUP, accounts[name], text)
                await asyncio.sleep(PACE)
        await qq.ask_private(ZHANG_SAN, "/memory flush all", timeout=60)
