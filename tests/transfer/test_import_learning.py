"""Learning what was imported: when there is time, within what it may cost, exactly once."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from graph_memory.inference.token_budget import TokenBudget
from graph_memory.learning import Learning
from graph_memory.learning.batching import FEW
from graph_memory.model import Fact
from graph_memory.supervisor import NEVER
from graph_memory.transfer import TransferService
from graph_memory.transfer.import_runs import saved
from graph_memory.transfer.transfer_service import next_batch
from tests.makers import T0, context, group, message, private, user
from tests.scripted import ScriptedModel, answer, said

from .support import OPTIONS, hear, importer, opened, put
from .test_sources import lines

DAY = 86_400.0


async def test_what_was_imported_is_learned_if_asked(tmp_path: Path) -> None:
    path = put(
        tmp_path / "x.jsonl",
        lines(
            *(
                {
                    "time": T0 - DAY * n + second,
                    "sender": "1",
                    "name": "小红",
                    "text": f"第{n}天我在学大提琴",
                }
                for n in range(1, 4)
                for second in range(FEW)
            ),
            {"time": T0 - DAY, "sender": "?", "text": "谁说的", "group": "9"},
        ),
    )
    model = ScriptedModel(
        lambda _: answer(said("我", "likes", "大提琴", f"小红喜欢大提琴（{len(model.calls)}）", 1)),
        cost=(400, 100),
    )
    async with opened(tmp_path / "a") as journal:
        spending = TokenBudget(journal, OPTIONS.zone, lambda: T0, limit=1_900)
        shared = context(journal, zone=OPTIONS.zone, now=lambda: T0, budget=spending)
        learning = Learning(shared, model)
        await learning.start()
        mover = TransferService(tmp_path / "a", shared, learning)
        brought = await mover.bring(importer(journal, path, learns=True))
        assert brought.run.learns
        await learning.settle()
        assert model.calls == []
        for _ in range(6):
            await mover.learn()
            await learning.settle()
        # Half of what a day may cost, and no more.
        assert len(model.calls) == 2
        assert all("谁说的" not in call.prompt for call in model.calls)
        assert not await journal.read(lambda rows: rows.find(Fact, session=group("9").id))
        facts = await journal.read(lambda rows: rows.find(Fact, session=private("1").id))
        assert len(facts) == 2
        assert {f.said_at for f in facts} <= {T0 - DAY * n for n in (1, 2, 3)}
        # Taken back, what was learned from it goes as well.
        await mover.undo()
        assert not await journal.read(lambda rows: rows.find(Fact))
        assert await mover.learn() == NEVER
        assert [each.state for each in await journal.look(saved)] == ["undone"]
        await mover.close()
        await learning.close()


async def test_what_an_older_version_left_to_be_learned_is_learned(tmp_path: Path) -> None:
    """Version 1.0 kept numbers of batches, and notes on who was where."""
    about = {"id": "01ab", "format": "chat", "at": T0, "state": "done", "learns": True}
    about |= {"messages": [[1, 3]], "changes": [], "batches": [[1, 3]], "unlearned": [[2, 3]]}
    path = tmp_path / "a" / "journal.sqlite3"
    async with opened(path.parent) as journal:
        for text in ("一", "二", "三"):
            await hear(journal, private("1"), message(private("1"), user("1"), text, T0))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "INSERT INTO batch (session, state, created_at)"
            " SELECT session, 'learned', at FROM message;"
            "UPDATE message SET batch = id;"
            "INSERT INTO presence VALUES ('aiocqhttp:group:9', 'aiocqhttp:1', 5.0, NULL, '');"
            "DROP INDEX message_import; DROP INDEX batch_import;"
            "ALTER TABLE message DROP COLUMN import; ALTER TABLE batch DROP COLUMN import;"
            "ALTER TABLE presence DROP COLUMN import;"
            "DELETE FROM migration WHERE name = '0006_imports';"
        )
        db.execute("INSERT INTO meta VALUES ('moving:01ab', ?)", (json.dumps(about),))
        db.execute("INSERT INTO meta VALUES ('attended:00', '[\"01ab\", null]')")
        db.commit()
    async with opened(path.parent) as journal:
        assert await journal.look(next_batch) == 2
        assert len(await journal.presences()) == 1
        assert await journal.note("attended:00") is None
        (run,) = await journal.look(saved)
        assert (run.count, run.is_old) == (3, True)
