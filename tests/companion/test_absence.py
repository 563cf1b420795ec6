"""Absence of the companion: unknown to lower rooms, and without a trace when it is off."""

import re
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import COMMANDS
from graph_memory.commands.usage import NEEDED
from graph_memory.companion import CoreFact, FollowUp, InnerState, Intent, Mood
from graph_memory.companion.parts import TEACHERS, Lead
from graph_memory.learning.prompt import TOOL
from graph_memory.model import Turn
from graph_memory.settings import Settings

from ..scripted import Voice, answer
from ..world import HOME, ZHANG, living, zhang

ROOT = Path(__file__).parents[2] / "graph_memory"
LOWER = ("deletion", "graph", "store", "learning", "library", "maintenance", "recall")
LOWER += ("transfer",)
KINDS = re.compile(r"\b(CoreFact|Mood|InnerState|FollowUp|core_fact|inner_state|follow_up)\b")


@pytest.mark.parametrize("room", [*LOWER, "privacy", "model.py", "visible_rows.py"])
def test_no_lower_room_names_its_rows(room: str) -> None:
    path = ROOT / room
    modules = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert modules
    found = {m.name: KINDS.findall(m.read_text(encoding="utf-8")) for m in modules}
    assert not {name: names for name, names in found.items() if names}


async def test_switched_off_it_asks_keeps_and_shows_nothing(tmp_path: Path) -> None:
    async with living(tmp_path, Settings(companion=())) as world:
        companion, turn = world.memory.companion, Turn(HOME, ZHANG, "张三", "你好")
        await world.memory.learning.hear(Turn(HOME, ZHANG, "张三", "请记住我对花生过敏"))
        assert companion.parts.isdisjoint(TEACHERS)
        assert companion.words(HOME) == frozenset()
        assert companion.remembering(turn) is None
        assert await companion.lead(turn) == Lead()
        assert not companion.proactive.is_on
        companion.proactive.start(Voice(), world.model, world.memory.learning)
        await companion.proactive.plan(HOME, ZHANG, Intent(180.0, "看看他好点没"))
        for command in COMMANDS:
            if part := NEEDED.get(command.name):
                assert part in await command.answer(world.commands, zhang, "")
        await world.learn(answer(inner={"self": "我"}, mood={"valence": 0.3, "arousal": 0.1}))
        assert all(call.tool == TOOL for call in world.model.calls)
        for kind in (CoreFact, Mood, InnerState, FollowUp):
            assert await world.rows(kind) == []
