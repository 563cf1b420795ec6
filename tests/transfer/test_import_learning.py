"""Learning what was imported: when there is time, within what it may cost, exactly once."""

from pathlib import Path

from graph_memory.companion.inner_state import Mood, MoodExtension
from graph_memory.deletion.message_retention import delete_messages
from graph_memory.inference.token_budget import TokenBudget
from graph_memory.learning import Learning
from graph_memory.learning.batching import FEW
from graph_memory.model import Entity, Episode, Fact, Mention, Name, Session
from graph_memory.supervisor import NEVER, Progress
from graph_memory.transfer import TransferService
from graph_memory.transfer.import_runs import saved
from tests.makers import T0, context, group, private, scan
from tests.scripted import ScriptedModel, answer, said

from .support import OPTIONS, everything, exported, importer, opened, put
from .test_sources import lines

DAY = 86_400.0


async def test_what_was_imported_is_learned_if_asked(tmp_path: Path) -> None:
    her = {"sender": "1", "name": "小红"}
    said_by_her = [
        {"time": T0 - DAY * n + second, "text": f"第{n}天我在学大提琴"} | her
        for n in range(1, 4)
        for second in range(FEW)
    ]
    others = [
        {"time": T0 - DAY, "sender": who, "text": f"谁说的{who}", "group": "9"} for who in "?2"
    ]
    path = put(tmp_path / "x.jsonl", lines(*said_by_her, *others))
    model = ScriptedModel(
        lambda _: answer(
            said("我", "likes", "大提琴", f"小红喜欢大提琴（{len(model.calls)}）", 1),
            summary="学琴",
            mood={"valence": 0.3, "arousal": 0.1},
        ),
        cost=(400, 100),
    )
    async with opened(tmp_path / "a") as journal:
        spending = TokenBudget(journal, OPTIONS.zone, lambda: T0, limit=1_900)
        shared = context(journal, zone=OPTIONS.zone, now=lambda: T0, budget=spending)
        learning = Learning(shared, model, extend=lambda _r, batch, _k: [MoodExtension(batch)])
        await learning.start()
        mover = TransferService(tmp_path / "a", shared, learning)
        assert (await mover.bring(importer(journal, path, learns=True))).run.learns
        await learning.settle()
        assert model.calls == []
        # That one of them goes makes nobody known who spoke.
        gone = [said.id for said in await everything(journal) if said.text == "谁说的2"]
        await journal.alter(lambda db, _tell: delete_messages(db, gone))
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
        # What was learned there is not learned again where it is taken to.
        own = put(tmp_path / "own.jsonl", await exported(journal))
        async with opened(tmp_path / "b") as other:
            assert not (await importer(other, own, learns=True).run(Progress())).run.learns
        assert await scan(journal, Mood)
        # Taken back, what was learned from it goes as well.
        assert (await mover.undo()).kept == 0
        for kind in (Fact, Entity, Name, Mention, Episode, Mood, Session):
            assert not await scan(journal, kind)
        assert await mover.learn() == NEVER
        assert [each.state for each in await journal.look(saved)] == ["undone"]
        await mover.close()
        await learning.close()
