"""``/memory``, ``/persona`` and talk, as people use them: the dialogues of ``dialogues.txt``."""

import json
import re
from pathlib import Path

import pytest

from tests.cases import cases

from .harness import ChatCall
from .test_remembering import texts
from .world import PLUGIN, World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]

CASES = cases(Path(__file__).with_name("dialogues.txt"))
SAID = re.compile(r"(?:(\d+)@)?(\d+)(?:/(\S+?))?([~!]?): (.*)")


class Dialogue:
    """Plays a case: a line is what somebody does, or what is to come of it.

    ``account/name: text`` is said in private, ``group@account: text`` to the bot in a group, with
    ``!`` not to it by an @, with ``~`` to nobody. ``= …`` is in the answer, ``! …`` is not; ``+ …``
    is put before the model; ``asked …``, ``model …`` and ``history …`` (or ``no-…``) are in what it
    was asked, its system's prompt and the messages. ``{page}`` is the memory page's address,
    ``{name}`` what the answer before ``name`` told; ``unasked``: nothing was since ``mark``.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._told = self._name = ""
        self._marked = 0
        self._call = ChatCall({})

    def _filled(self, text: str) -> str:
        page = f"http://127.0.0.1:{self._world.web_port}"
        return text.replace("{page}", page).replace("{name}", self._name)

    async def play(self, lines: list[str]) -> None:
        for line in map(self._filled, lines):
            if said := SAID.fullmatch(line):
                await self._say(*said.groups())
            else:
                sign, _, text = line.partition(" ")
                await self._step(sign, text)

    async def _say(self, group: str, who: str, name: str, how: str, text: str) -> None:
        qq, before = self._world.qq, len(self._world.asked(text))
        if how == "~":
            await qq.send_group(int(group), int(who), text, name)
        elif group:
            self._told = await qq.ask_group(int(group), int(who), text, name, at_bot=not how)
        else:
            self._told = await qq.ask_private(int(who), text, name)
        self._call = next(iter(self._world.asked(text)[before:]), ChatCall({}))

    async def _step(self, sign: str, text: str) -> None:
        bot, umo = self._world.bot, self._world.qq.umo
        match sign:
            case "learn":
                await self._world.learn()
            case "name":
                self._name = self._told.split("：")[1]
            case "mark":
                self._marked = len(self._world.chats)
            case "unasked":
                assert len(self._world.chats) == self._marked
            case "persona":
                await bot.create_persona(*text.split(" ", 1))
            case "rule":
                who, _, persona = text.partition(" ")
                await bot.force_session_persona(umo(user_id=int(who)), persona or None)
            case "setting":
                await bot.save_plugin_config(PLUGIN, json.loads(text))
                await self._world.ready()
            case "reload":
                await bot.reload_plugin(PLUGIN)
                await self._world.ready()
            case "conversations":
                who, count = text.split()
                assert len(await bot.conversations(umo(user_id=int(who)))) == int(count)
            case "kept":
                who, words = text.split(" ", 1)
                assert texts(self._world, f"aiocqhttp:{who}") == [words]
            case _:
                self._check(sign, text)

    def _check(self, sign: str, text: str) -> None:
        shown = {
            "=": self._told, "!": self._told, "+": injected(self._call),
            "asked": self._call.last_user_parts[0][-len(text) :], "model": self._call.system,
            "history": str(self._call.messages),
        }[sign.removeprefix("no-")]  # fmt: skip
        assert (text in shown) is not (sign == "!" or sign.startswith("no-")), (sign, text, shown)


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_a_dialogue(world: World, name: str) -> None:
    await Dialogue(world).play(CASES[name])
