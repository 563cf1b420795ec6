"""``/memory``, ``/persona``, tools and talk, as people and models use them: ``dialogues.txt``."""

import json
import re
from pathlib import Path

import pytest

from tests.cases import cases, words

from .harness import ChatCall, ToolCall, wait_until
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
    ``push`` is an event of the platform, ``take-back who words`` one of a message; ``left`` and
    ``gone`` wait for what comes of it, ``stored`` for AstrBot's own history to have some words.
    ``dashboard who persona`` sets a conversation's persona, ``kept who a; b`` is all they said.
    ``uses`` scripts what tool the model uses on what it finds when it is asked (``open_record``:
    among the records); ``result`` is what it gave.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._told = self._name = ""
        self._marked = 0
        self._call = ChatCall({})

    def _filled(self, text: str) -> str:
        page = f"http://127.0.0.1:{self._world.web_port}"
        text = text.replace("{page}", page).replace("{self}", str(self._world.qq.self_id))
        return text.replace("{name}", self._name)

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
        self._call = [ChatCall({}), *self._world.asked(text)[before:]][-1]

    async def _step(self, sign: str, text: str) -> None:
        bot, umo = self._world.bot, self._world.qq.umo
        match sign:
            case "uses":
                self._script(*text.split(" | "))
            case "tools":
                assert set(text.split()) <= set(self._call.tool_names)
            case "result":
                number, pattern = text.split(" ", 1)
                assert re.search(pattern, self._call.tool_results[int(number)])
            case "learn":
                self._told = await self._world.learn()
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
            case "conversations" | "group-conversations":
                who, count = text.split()
                whose = {"user_id" if sign == "conversations" else "group_id": int(who)}
                assert len(await bot.conversations(umo(**whose))) == int(count)
            case "kept":
                who, said = text.split(" ", 1)
                assert texts(self._world, f"aiocqhttp:{who}") == words(said)
            case "dashboard":
                who, persona = text.split()
                newest, *_ = await bot.conversations(umo(user_id=int(who)))
                await bot.set_conversation_persona(newest["user_id"], newest["cid"], persona)
            case "push":
                await self._world.qq._push(**json.loads(text))
            case "take-back":
                who, said = text.split(" ", 1)
                await self._world.qq.take_back(self._world.qq.last_id(int(who), said))
            case "left":
                left = "SELECT 1 FROM presence WHERE user = ? AND until > 0"
                who = f"aiocqhttp:{text}"
                await wait_until(lambda: self._world.journal(left, who), 20, text)
            case "gone":
                kept = "SELECT 1 FROM message WHERE instr(text, ?)"
                await wait_until(lambda: not self._world.journal(kept, text), 20, text)
            case "stored" | "no-stored":
                who, said = text.split(" ", 1)

                async def is_so() -> bool:
                    turns = await self._world.turns(umo(user_id=int(who)))
                    return (said in json.dumps(turns, ensure_ascii=False)) is (sign == "stored")

                await wait_until(is_so, 20, text)
            case "nothing":
                assert injected(self._call) == ""
            case _:
                self._check(sign, text)

    def _script(self, asked: str, words: str, tool: str, given: str) -> None:
        """Let the model look words up when it is asked, and use a tool on what it finds."""
        search = ToolCall("memory_recall", {"query": words, "person": "我"})
        if tool == "open_record":
            search = ToolCall("search_history", {"keyword": words})

        def act(call: ChatCall) -> ToolCall:
            if not call.tool_results:
                return search
            found = re.search(rf"\[(m:[0-9a-f]+)\] [^\[]*{words}", call.tool_results[0])
            return ToolCall(tool, {"id": found[1] if found else "m:none", **json.loads(given)})

        def is_asked(call: ChatCall) -> bool:
            return asked in call.last_user_parts[0] and len(call.tool_results) < 2

        self._world.llm.when(is_asked, act)

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
