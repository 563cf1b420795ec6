"""What is left of a conversation: every scene through the real path.

This tests the pipeline (buffer, batch, prompt, parsing, resolving, journal, index,
scope, recall), **not** how well a model extracts: what the model answers is written by
hand, well-formed or broken. ``./dev scenes --live`` puts the same scenes to a real model.
"""

from pathlib import Path

import pytest

from .cast import SCENES
from .match import Reading, unanswered, unmet
from .play import Theatre
from .stage import Scene


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_scene(scene: Scene, tmp_path: Path) -> None:
    async with Theatre.open(scene, tmp_path) as theatre:
        await theatre.play()
        reading = Reading(await theatre.memory())
        problems = unmet(scene, reading)
        for ask in scene.asks:
            problems += unanswered(ask, await theatre.ask(ask))
    assert not problems, "\n".join([scene.title, *problems, "all facts:", *reading.stands()])


def test_there_are_enough_scenes_with_names_of_their_own() -> None:
    assert len({scene.name for scene in SCENES}) == len(SCENES) >= 60
    assert all(scene.title for scene in SCENES)
    for scene in SCENES:
        assert scene.facts or scene.never or scene.nobody or scene.asks or scene.waiting, scene
