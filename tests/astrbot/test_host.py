"""Reading AstrBot's events and requests, with its own types where they carry the meaning."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.api import FunctionTool, ToolSet
from astrbot.api.provider import ProviderRequest
from astrbot.core.platform.message_type import MessageType

from graph_memory.astrbot import Host, WithWords
from graph_memory.astrbot.adapter import DEPARTURE, LOOK_UPS
from graph_memory.locales import say
from graph_memory.model import NO_PERSONA, Message
from graph_memory.store import Journal
from tests.cases import rows


def host(
    config: dict[str, Any] | None = None,
    providers: tuple[str, ...] = ("p",),
    personas: Sequence[dict[str, Any]] = (),
    add_llm_tools: Callable[..., None] = print,
    **more: Any,
) -> Host:
    async def resolve(**asked: Any) -> tuple[Any, ...]:
        return asked["conversation_persona_id"] or "default", None, None, False

    async def nothing(*_: Any) -> None:
        return None

    return Host(SimpleNamespace(
        get_all_providers=lambda: providers, get_all_embedding_providers=tuple,
        get_config=lambda umo=None: config or {},
        add_llm_tools=add_llm_tools,
        persona_manager=SimpleNamespace(resolve_selected_persona=resolve, personas_v3=personas),
        conversation_manager=SimpleNamespace(
            get_curr_conversation_id=nothing, get_conversation=nothing,
        ),
    ), **more)  # fmt: skip


class Event(SimpleNamespace):
    """A message as AstrBot hands it on."""

    def __init__(self, *, group: str = "", sender: str = "10001", session: str = "") -> None:
        kind = MessageType.GROUP_MESSAGE if group else MessageType.FRIEND_MESSAGE
        place = session or group or sender
        about = SimpleNamespace(group_name="读书会") if group else None
        super().__init__(
            message_str="你好", is_at_or_wake_command=False, extras={},
            unified_msg_origin=f"qq:{kind.value}:{place}",
            message_obj=SimpleNamespace(
                group=about, raw_message={}, message_id="7", timestamp=1_790_000_000
            ),
            get_sender_id=lambda: sender, get_sender_name=lambda: "小红",
            get_self_id=lambda: "999", get_group_id=lambda: group, get_session_id=lambda: place,
            get_platform_name=lambda: "aiocqhttp", get_platform_id=lambda: "qq",
            get_message_type=lambda: kind, get_messages=list, is_admin=lambda: False,
        )  # fmt: skip

    def get_extra(self, key: str) -> Any:
        return self.extras.get(key)

    def set_extra(self, key: str, value: Any) -> None:
        self.extras[key] = value


async def test_private_chat() -> None:
    caller = await host().turn(Event())
    assert caller.user == "aiocqhttp:10001"
    assert caller.session.circle == "aiocqhttp:private:10001"
    assert caller.session.owner == caller.user
    assert (caller.session.persona, caller.session.title) == ("default", "小红")


async def test_each_account_of_ours_has_its_private_chats_for_itself() -> None:
    found = host(by_account=True)
    caller = await found.turn(Event())
    assert caller.session.circle == "aiocqhttp:private:10001"  # whose account is not known
    found.ours = {"aiocqhttp": {"999", "998"}}
    caller = await found.turn(Event())
    assert caller.session.circle == "aiocqhttp:private@999:10001"
    assert caller.session.owner == caller.user == "aiocqhttp:10001"
    in_group = await found.turn(Event(group="42"))
    assert in_group.session.circle == "aiocqhttp:group:42"
    taken_back = await found.retracted(notice("friend_recall", "10001"))
    assert taken_back == ("aiocqhttp:private@999:10001", "7", "", "999")


async def test_accounts_that_are_linked_ask_together() -> None:
    found = host()
    both = frozenset({"aiocqhttp:10001", "telegram:7"})
    found.accounts = lambda user: both if user in both else frozenset((user,))
    caller = await found.turn(Event())
    assert caller.asker.accounts == both
    assert caller.asker.user == "aiocqhttp:10001"


async def test_group() -> None:
    caller = await host().turn(Event(group="42"))
    assert caller.session.circle == "aiocqhttp:group:42"
    assert (caller.session.owner, caller.session.title) == ("", "读书会")


async def test_members_of_a_group_share_a_session_under_unique_session() -> None:
    first = await host().turn(Event(group="42", session="10001_42"))
    other = await host().turn(Event(group="42", sender="10002", session="10002_42"))
    lark = await host().turn(Event(group="42", session="ou_1%42"))  # whose ids have a _
    plain = await host().turn(Event(group="42"))
    assert first.session == other.session == lark.session == plain.session
    assert first.user != other.user


async def test_half_of_a_character_in_an_id_keeps_nobody_from_being_heard(journal: Journal) -> None:
    event: Any = Event(group="4\ud8002", sender="1\udc00", session="s\ud800")
    event.message_obj.message_id = "7\ud800"
    event.message_obj.group.group_name = "读\ud800书会"
    event.get_sender_name = lambda: "小\ud800红"
    caller = await host().turn(event)
    assert (caller.user, caller.session.circle) == ("aiocqhttp:1\ufffd", "aiocqhttp:group:4\ufffd2")
    said = Message(0, caller.session.id, caller.user, "小红", "你好", 1.0, caller.ref)
    assert [await journal.append(said, caller.session)] == await journal.newest_messages(9)


@pytest.mark.parametrize("sender", ["", "999", "998"])
async def test_nobody_speaks(sender: str) -> None:
    found = host()
    found.ours = {"aiocqhttp": {"998"}, "telegram": {"10001"}}
    assert await found.turn(Event(sender=sender)) is None
    assert await found.turn(Event())


async def test_the_requests_persona_wins() -> None:
    event = Event()
    request = SimpleNamespace(conversation=SimpleNamespace(persona_id="life_advisor"))
    assert await host().persona(event, request) == "life_advisor"
    event.extras["provider_request"] = request
    assert await host().persona(event) == "life_advisor"
    assert await host().persona(Event()) == "default"


async def test_who_waits_for_a_persona_shares_a_look_that_begins_after_they_came() -> None:
    found, wanted, let = host(), "mei", asyncio.Event()
    begun: list[str] = []

    async def conversation(*_: Any) -> Any:
        begun.append(wanted)
        await let.wait()
        return SimpleNamespace(persona_id=begun[-1])

    async def current(_umo: str) -> str:
        return "c"

    found._context.conversation_manager.get_curr_conversation_id = current
    found._context.conversation_manager.get_conversation = conversation
    async with asyncio.TaskGroup() as group:
        early = group.create_task(found.persona(Event()))
        await asyncio.sleep(0)
        wanted = "life_advisor"  # a switch while it looks
        late = [group.create_task(found.persona(Event())) for _ in range(9)]
        await asyncio.sleep(0)
        let.set()
    assert early.result() == "mei"
    assert {each.result() for each in late} == {"life_advisor"}
    assert begun == ["mei", "life_advisor"]


@pytest.mark.parametrize(("failures", "is_found"), [(LOOK_UPS - 1, True), (LOOK_UPS, False)])
async def test_a_busy_database_is_asked_again(failures: int, is_found: bool) -> None:
    found, left = host(), iter([True] * failures)

    async def current(_umo: str) -> None:
        if next(left, False):
            raise TimeoutError("QueuePool limit reached")

    found._context.conversation_manager.get_curr_conversation_id = current
    with contextlib.nullcontext() if is_found else pytest.raises(TimeoutError):
        assert await found.persona(Event()) == "default"


async def test_a_persona_that_is_named_like_none_is_not_none() -> None:
    found = host()
    resolve = found._context.persona_manager.resolve_selected_persona

    async def named(**asked: Any) -> tuple[Any, ...]:
        persona, _, *more = await resolve(**asked)
        return persona, {"name": persona, "prompt": "你是小美"}, *more

    def unset(name: str) -> Any:
        return SimpleNamespace(conversation=SimpleNamespace(persona_id=name))

    assert await found.persona(Event(), unset(NO_PERSONA)) == NO_PERSONA
    found._context.persona_manager.resolve_selected_persona = named
    names = (NO_PERSONA, f"{NO_PERSONA}%", "mei", "mei%")
    ids = [await found.persona(Event(), unset(name)) for name in names]
    assert ids == [f"{NO_PERSONA}%", f"{NO_PERSONA}%%", "mei", "mei%"]


def test_departure() -> None:
    event = Event(group="42")
    assert not host().notice(event)
    event.message_obj.raw_message = {"post_type": "notice", "notice_type": "group_decrease"}
    assert host().notice(event) == DEPARTURE


def notice(kind: str, author: str, *, group: str = "", known: Any = None) -> Any:
    """A notice that a message was taken back, from a platform that still knows it or not."""

    async def get_msg(action: str, *, message_id: int, self_id: str) -> Any:
        assert (action, message_id, self_id) == ("get_msg", 7, "999")
        if known is None:
            raise RuntimeError("retcode 1404")
        return known

    event: Any = Event(group=group, sender=author)
    event.message_obj.raw_message = {"notice_type": kind, "message_id": 7, "user_id": author}
    event.bot = SimpleNamespace(call_action=get_msg)
    return event


BOTS = {"sender": {"user_id": 999}, "message": [{"type": "text", "data": {"text": "你好"}}]}
USERS = {"sender": {"user_id": 10001}, "message": [{"type": "text", "data": {"text": "你好"}}]}


@pytest.mark.parametrize(("event", "meant"), [
    (notice("group_recall", "10001", group="42"), ("aiocqhttp:group:42", "7", "", "")),
    (notice("friend_recall", "10001", known=USERS), ("aiocqhttp:private:10001", "7", "", "")),
    (
        notice("group_recall", "999", group="42", known=BOTS),
        ("aiocqhttp:group:42", "7", "你好", ""),
    ),
    (notice("group_recall", "999", group="42"), ("aiocqhttp:group:42", "7", "", "")),
    (notice("friend_recall", "10001", known=BOTS), ("aiocqhttp:private:10001", "7", "你好", "")),
    (notice("group_decrease", "10001", group="42"), None),
    (Event(), None),
])  # fmt: skip
async def test_recalled(event: Any, meant: tuple[str, str, str] | None) -> None:
    assert await host().retracted(event) == meant


def test_injection_is_neither_stored_nor_cached() -> None:
    request = ProviderRequest(prompt="你好", system_prompt="人格")
    host({"agent_runner": {"runner_type": "local"}}).inject(Event(), request, "<记忆>")
    (part,) = request.extra_user_content_parts
    assert part.model_dump_for_context() == {"type": "text", "text": "<记忆>", "_no_save": True}
    assert (request.prompt, request.system_prompt) == ("你好", "人格")


DIFY = {"runner_type": "dify", "config": {"variables": {"tone": "warm"}}}


@pytest.mark.parametrize(("config", "in_prompt"), rows(__file__, "test_other_runners"))
def test_injection_for_other_runners(config: dict[str, Any], in_prompt: bool) -> None:
    """Of what AstrBot hands on, the part that the platform's model is shown."""
    request = ProviderRequest(prompt="你好", system_prompt="人格")
    host(config).inject(Event(), request, "<记忆>")
    assert request.extra_user_content_parts == []
    assert request.prompt == ("你好\n\n<记忆>" if in_prompt else "你好")
    assert request.system_prompt == ("人格" if in_prompt else "人格\n\n<记忆>")


def test_a_picture_alone_keeps_astrbots_question() -> None:
    request = ProviderRequest(prompt="", image_urls=["picture.png"])
    host({"agent_runner": DIFY}).inject(Event(), request, "<记忆>")
    assert request.prompt == ""


def test_context() -> None:
    request = ProviderRequest(prompt="那第二个呢", contexts=[
        {"role": "user", "content": "推荐两本书"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": [{"type": "text", "text": "《活着》和《围城》"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "第一个讲什么"},
                {"type": "text", "text": "<system_reminder>Current datetime: …"},
            ],
        },
        {"role": "_checkpoint", "content": {"id": "1"}},
    ])  # fmt: skip
    texts, previous = host().context_of(request)
    assert texts == ["推荐两本书", "《活着》和《围城》", "第一个讲什么"]
    assert previous == "第一个讲什么"
    assert host().context_of(ProviderRequest()) == ([], "")
    examples = {"role": "user", "content": "我的猫叫什么", "_no_save": True}  # of a persona
    waited = {"role": "user", "content": say("zh", "care_turn")}
    found = host().context_of(ProviderRequest(contexts=[examples, waited]))
    assert found == (["我的猫叫什么"], "")


@pytest.mark.parametrize(
    ("prefixes", "told"),
    [(["/"], "/记忆 我的，/new"), (["!", "#"], "!记忆 我的，!new"), ([], "记忆 我的，new")],
)
def test_commands_are_told_with_the_prefix_that_wakes_astrbot(prefixes, told) -> None:
    text = f"{told}（http://localhost/memory）"
    given = "/记忆 我的，/new（http://localhost/memory）"
    assert host({"wake_prefix": prefixes}).prefixed(Event(), given) == text


@pytest.mark.parametrize(("name", "shown"), [("Asia/Shanghai", "Asia/Shanghai"), ("Mars/X", None)])
def test_zone(name: str, shown: str | None) -> None:
    zone = host({"timezone": name}).zone
    assert zone is not None
    assert shown is None or str(zone) == shown


async def test_providers_come_after_a_cold_start() -> None:
    cold = host(providers=())
    waiting = asyncio.create_task(cold.providers_ready())
    await asyncio.sleep(0)
    assert not waiting.done()
    cold.loaded()
    await waiting
    await host().providers_ready()  # a hot reload: they are there already


@pytest.mark.parametrize(("text", "passes"), [("new", False), ("new  ", False), ("new mei", True)])
def test_with_words(text: str, passes: bool) -> None:
    assert WithWords().filter(SimpleNamespace(message_str=text), None) is passes


@pytest.mark.parametrize(("given", "chosen", "offered"), [
    (["web_search"], None, ["memory_forget", "memory_recall", "web_search"]),
    ([], None, ["memory_forget", "memory_recall"]),
    (None, None, []),  # Dify and the like
    (["web_search"], ["web_search"], ["web_search"]),
    (["memory_recall"], ["memory_recall"], ["memory_forget", "memory_recall"]),
    ([], [], []),
])  # fmt: skip
def test_tools_are_listed_once_a_persona_chooses_its_tools(given, chosen, offered):
    listed: list[FunctionTool] = []
    astrbot = host(personas=[{"tools": None}, {"tools": chosen}], add_llm_tools=listed.append)
    made = {
        name: FunctionTool(name=name, description="", parameters={"type": "object"})
        for name in ("memory_recall", "memory_forget", "web_search")
    }
    astrbot.tools = [made["memory_recall"], made["memory_forget"]]
    for _ in range(2):
        tools = None if given is None else ToolSet([made[name] for name in given])
        request = ProviderRequest(func_tool=tools)
        astrbot.offer_tools(request)
        assert sorted(request.func_tool.names() if request.func_tool else []) == offered
    assert [tool.name for tool in listed] == (["memory_recall"] if chosen is not None else [])


def test_tools_stay_listed_when_no_persona_chooses_any_more() -> None:
    """What AstrBot offers is then for it to say."""
    personas: list[dict[str, Any]] = [{"tools": ["web_search"]}]
    listed: list[FunctionTool] = []
    astrbot = host(personas=personas, add_llm_tools=listed.append)
    astrbot.tools = [FunctionTool(name="memory_recall", description="", parameters={})]
    request = ProviderRequest(func_tool=ToolSet())
    for tools in (["web_search"], None, ["web_search"]):
        personas[0]["tools"] = tools
        astrbot.offer_tools(request)
    assert len(listed) == 1
    assert not request.func_tool.names()
