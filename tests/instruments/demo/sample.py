"""A sample conversation, played through the real path: a simulated QQ account.

Three people in a group, and one of them in private with two personas. It shows facts,
a fact that replaces another, layered sharing, and who is reminded of what.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.e2e.harness import ADMIN_ID, OneBotClient

from .astrbot import DemoAstrBot

PERSONAS = {
    "tech_assistant": "你是一位耐心的技术助手，熟悉编程与系统架构，回答简洁准确。",
    "life_advisor": "你是一位温和的生活顾问，关心对方的身心健康，给出切实的建议。",
}
GROUP = 70001
GROUP_NAME = "示例爬山群"
PACE = 0.3
"""Seconds between messages nobody answers: AstrBot may mix up what comes all at once."""
ZHANG_SAN = ADMIN_ID  # an admin, so that he may learn at once
PEOPLE = {ZHANG_SAN: "张三", 70011: "小明", 70012: "小红"}

TECH = (
    "我叫张三，是后端工程师",
    "我擅长 Python",
    "我们组用 Docker 部署微服务",
    "我最近在学 Kubernetes",
)
LIFE = (
    "最近工作压力有点大，晚上睡不好",
    "我喜欢瑜伽，打算每天早上冥想十分钟",
    "我对花生过敏，点外卖总要问一句",
    "我女朋友叫小雅，我养了一只橘猫",
)
IN_GROUP = (
    (70011, "大家好，我叫小明，我住在杭州"),
    (70012, "我喜欢爬山，上周刚去了黄山"),
    (ZHANG_SAN, "我也喜欢爬山"),
    (70012, "我养了一只柴犬，叫豆豆"),
    (70011, "我打算国庆去徽杭古道"),
    (70011, "对了，我搬到上海了"),
    (70012, "我不喜欢早起，集合能不能晚一点"),
    (ZHANG_SAN, "我们组用 Python 写脚本，可以帮大家订票"),
)
QUESTIONS = ((70012, "小明现在住在哪里？"), (70011, "国庆去哪里爬山好？"))


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
    """Play the sample conversation.

    Args:
        bot: A running AstrBot.
        say: Told what goes on.
    """
    for persona, prompt in PERSONAS.items():
        await bot.create_persona(persona, prompt)
    async with SampleAccount(bot) as qq:
        qq.nicknames.update(PEOPLE)
        for persona, lines in (("tech_assistant", TECH), ("life_advisor", LIFE)):
            say(f"张三 × {persona}")
            await qq.ask_private(ZHANG_SAN, f"/new {persona}", timeout=60)
            for line in lines:
                await qq.ask_private(ZHANG_SAN, line, timeout=60)
        say("群聊 · group")
        for user, line in IN_GROUP:
            await qq.send_group(GROUP, user, line)
            await asyncio.sleep(PACE)
        for user, line in QUESTIONS:
            await qq.ask_group(GROUP, user, line, timeout=60)
        await qq.ask_private(ZHANG_SAN, "/memory flush all", timeout=60)
