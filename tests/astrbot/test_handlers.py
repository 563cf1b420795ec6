"""What goes into AstrBot's registries and Python's."""

from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.core.star.filter.permission import PermissionTypeFilter
from astrbot.core.star.star_handler import star_handlers_registry

from graph_memory.astrbot import handlers
from tests.cases import rows


def permission(handler: Any) -> PermissionTypeFilter:
    """The one permission that AstrBot has noted down for a handler."""
    name = f"{handler.__module__}_{handler.__name__}"
    found = star_handlers_registry.get_handler_by_full_name(name)
    star_handlers_registry.remove(found)
    (rule,) = found.event_filters
    assert isinstance(rule, PermissionTypeFilter)
    return rule


@pytest.mark.parametrize(
    ("group", "admin", "allowed"),
    [("", False, True), ("", True, True), ("42", False, False), ("42", True, True)],
)
@pytest.mark.parametrize("is_older", [False, True])
def test_own_chat(monkeypatch, group, admin, allowed, is_older):
    """The same with and without the permission that AstrBot 4.26 does not have."""
    if is_older:
        older = SimpleNamespace(MEMBER=handlers.PermissionType.MEMBER)
        monkeypatch.setattr(handlers, "PermissionType", older)

    async def command(self: Any, event: Any) -> None: ...

    assert handlers.own_chat(command) is command
    event = SimpleNamespace(
        is_admin=lambda: admin, get_group_id=lambda: group, get_extra=lambda *_: None
    )
    assert permission(command).filter(event, None) is allowed


@pytest.mark.parametrize(("said", "prefix", "read"), rows(__file__, "test_only_the_command"))
def test_only_the_command_itself_is_straightened(said: str, prefix: str, read: str) -> None:
    raw = said if said.startswith("／") or not prefix else prefix + said
    event = SimpleNamespace(message_str=said, message_obj=SimpleNamespace(message_str=raw))
    names = {"memory remember": "memory remember", "记忆 记住": "memory remember"}
    known = {*names, "persona", "人格"}
    straight = handlers._straightened(event, {"wake_prefix": ["/"]}, {"memory", "记忆"}, known)
    for name, meant in names.items():
        straight = straight.replace(name, meant)
    assert straight == read


@pytest.mark.parametrize(("said", "is_command"), rows(__file__, "test_no_talk"))
def test_what_is_terse_is_a_command_without_a_prefix(said: str, is_command: bool) -> None:
    event = SimpleNamespace(message_str=said, message_obj=SimpleNamespace(message_str=said))
    assert handlers.Terse(False).filter(event, {"wake_prefix": ["/"]}) is is_command
