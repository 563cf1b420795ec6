"""One step along the facts of some Sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import GraphError
from graph_memory.graph import Step
from tests.makers import fact

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, opened, put, world


async def test_steps(tmp_path: Path) -> None:
    friends = fact(GROUP, ZHANG, LI, "张三是李四的同事", predicate="friend_of")
    liked, habit = (
        fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽"),
        fact(CHAT, ZHANG, YOGA, "张三每周三练瑜伽"),
    )
    needs = fact(GROUP, DOCKER, YOGA, "Docker 和瑜伽都需要练习", predicate="other")
    async with opened(tmp_path, *world()) as (journal, graph):
        both = [CHAT.id, GROUP.id]
        of_zhang = {Step(liked.id, ZHANG, YOGA), Step(habit.id, ZHANG, YOGA)}
        assert set(await graph.steps([ZHANG], [CHAT.id])) == of_zhang, "not the archived one"
        assert set(await graph.steps([ZHANG], both)) == of_zhang | {Step(friends.id, ZHANG, LI)}
        backwards = [Step(needs.id, YOGA, DOCKER)]
        assert await graph.steps([YOGA], [GROUP.id]) == backwards, "against its direction"
        assert set(await graph.steps([LI, DOCKER], both)) == {
            Step(friends.id, LI, ZHANG),
            Step(needs.id, DOCKER, YOGA),
        }
        for nodes, sessions in (([], both), ([ZHANG], []), (["e:no'such{}"], ["$s"])):
            assert await graph.steps(nodes, sessions) == []
        await put(journal, replace(needs, object=DOCKER))
        await graph.settle()
        assert await graph.steps([DOCKER], both) == [], "nothing leads to itself"
    with pytest.raises(GraphError):
        await graph.steps([ZHANG], both)
