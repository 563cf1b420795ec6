"""Proactive messages where AstrBot fails."""

from dataclasses import dataclass
from pathlib import Path

from graph_memory.companion import Intent
from graph_memory.model import Session, Turn

from ..scripted import Voice
from ..world import HERS, HOME, LI, ZHANG, living


@dataclass
class BrokenVoice(Voice):
    """A chat of which AstrBot cannot say who answers in it."""

    async def persona(self, session: Session) -> str | None:
        if session.id == HOME.id:
            raise RuntimeError("its database is locked")
        return await super().persona(session)


async def test_a_chat_that_fails_holds_up_no_other(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        proactive, voice = world.memory.companion.proactive, BrokenVoice()
        world.model.script = lambda _: "在吗？"
        world.speak(voice)
        for seconds, (session, user) in enumerate([(HOME, ZHANG), (HERS, LI)], 60):
            await world.memory.learning.hear(Turn(session, user, "某人", "晚点聊"))
            world.later(20)
            await proactive.plan(session, user, Intent(seconds, "问候"))
        world.later(200)
        await proactive._job.idle()
        assert [place for place, _ in voice.said] == [HERS.id]
