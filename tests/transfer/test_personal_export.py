"""What an asker takes away is what the asker may see, and tells nothing of the rest."""

import asyncio
import json
import tempfile
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from graph_memory.companion import CoreFact, Mood
from graph_memory.model import Asker, Episode, Forgotten, Message, Session, asker_of
from graph_memory.privacy.scope import Attendance, Policy, Rank, span, view
from graph_memory.store import Journal
from graph_memory.transfer.export import lines_for
from tests.cases import examples
from tests.makers import T0, fact, group, message, private, user
from tests.makers import put as write
from tests.recall.histories import SESSIONS, History, histories

from .support import attend, hear, opened
from .test_own import play

NOW = T0 + 100


async def seen(journal: Journal, asker: Asker) -> list[dict[str, Any]]:
    attendance = Attendance(await journal.presences())
    text = await journal.look(lambda db: list(lines_for(db, asker, Policy(), attendance, UTC, NOW)))
    return [json.loads(line) for line in text]


async def test_only_what_the_asker_may_see(tmp_path: Path) -> None:
    hers, his, here = private("1"), private("2"), group("9")
    other = private("1", "lan")
    async with opened(tmp_path / "a") as journal:
        (first,) = await hear(journal, here, message(here, user("2"), "她来之前说的", T0))
        await hear(journal, here, message(here, user("1"), "大家好", T0 + 10, name="小红"))
        (muted,) = await hear(journal, here, message(here, user("2"), "忘掉的", T0 + 20))
        await hear(journal, here, message(here, "bot", "机器人的话", T0 + 30))
        await hear(journal, his, message(his, user("2"), "私下说的", T0 + 40))
        old = fact(hers, user("1"), user("1"), "小红住在北京", at=T0 + 50)
        await write(
            journal, hers, other, old,
            replace(
                old, id="f:new", statement="小红搬到上海了", said_at=T0 + 60, supersedes=(old.id,),
            ),
            replace(old, id="f:gone", statement="归档的", status="archived"),
            replace(old, id="f:over", statement="小红租着房", said_at=T0 + 65, valid_to=T0 + 66),
            fact(his, user("1"), user("1"), "小明说小红的坏话", at=T0 + 50),
            Forgotten.of(here.id, muted.id),
            Episode("ep:1", hers.id, T0, T0 + 60, 1, 1, 1, "聊了搬家"),
            CoreFact("c:1", hers.id, user("1"), 1, "fact", "小红怕黑", T0 + 70, T0 + 70),
            CoreFact("c:2", here.id, user("2"), 1, "fact", "小明怕高", T0 + 70, T0 + 70),
            CoreFact("c:3", his.id, user("1"), 1, "fact", "不该有的", T0 + 70, T0 + 70),
            CoreFact("c:4", other.id, user("1"), 1, "fact", "别的人格的", T0 + 70, T0 + 70),
            Mood("mo:1", hers.id, 0.1, 0.2, T0 + 70),
        )  # fmt: skip
        told = await seen(journal, asker_of(hers, user("1")))
        assert [(each["kind"], each.get("text"), each.get("outdated")) for each in told[1:-1]] == [
            ("message", "大家好", None),
            ("fact", "小红住在北京", True),
            ("fact", "小红搬到上海了", None),
            ("fact", "小红租着房", True),
            ("core", "小红怕黑", None),
            ("summary", "聊了搬家", None),
        ]
        assert told[-1] == {"kind": "end", "lines": 7}
        assert first.text not in json.dumps(told, ensure_ascii=False)


async def test_a_relation_of_the_owners_is_exported_by_its_name(tmp_path: Path) -> None:
    hers = private("1")
    own = replace(fact(hers, user("1"), user("1"), "小红的师父是老周"), predicate="mentor")
    async with opened(tmp_path / "a") as journal:
        await write(journal, hers, own)
        asker, relations = asker_of(hers, user("1")), {"mentor": "师父"}
        given = (asker, Policy(), Attendance(), UTC, NOW, relations)
        text = await journal.look(lambda db: list(lines_for(db, *given)))
    assert json.loads(text[1])["relation"] == "师父"


@given(histories())
@settings(max_examples=examples(20))
def test_what_may_not_be_seen_leaves_no_trace(history: History) -> None:
    asyncio.run(_compare(history))


async def _compare(history: History) -> None:
    asker = asker_of(SESSIONS[0], user("1"))
    attendance = Attendance(history.presences)
    sights = {s.id: view(s, asker, Policy(), attendance) for s in SESSIONS}

    def shows(row: Any) -> bool:
        if isinstance(row, Session):
            return True
        if isinstance(row, Forgotten):
            return shows(next(m for m in messages if m.id == row.message))
        if not hasattr(row, "session"):
            return True
        sight = sights[row.session]
        return bool(sight and sight.rank(*span(row)) is not Rank.HIDDEN)

    messages = [step for step in history.steps if isinstance(step, Message)]
    with tempfile.TemporaryDirectory() as place:
        told = []
        for name, keeps in (("a", lambda _: True), ("b", shows)):
            async with opened(Path(place) / name) as journal:
                await play(journal, History([step for step in history.final() if keeps(step)]))
                # Those of the history say who was there.
                await journal.alter(lambda db, _tell: db.execute("DELETE FROM presence"))
                await attend(journal, *history.presences)
                told.append(await seen(journal, asker))
        assert told[0] == told[1]
