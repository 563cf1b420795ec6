"""What every surface of a memory gives one caller: the thing that must not depend on what
the caller may not see."""

import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.tools import Tools
from graph_memory.graph import GraphState
from graph_memory.learning.prompt import ContextBuilder, compose
from graph_memory.learning.resolver import resolve
from graph_memory.mcp_server import AgentTools
from graph_memory.model import Batch, Episode, Message, Row, Turn, encode
from graph_memory.recall import Recall, RecallOptions
from graph_memory.references import References
from graph_memory.service import MemoryService
from graph_memory.store import Rows
from graph_memory.visible_rows import VisibleRows, view_for
from tests.makers import last_change

from .director import extraction

Given = dict[str, Any]
"""By surface."""


@dataclass
class Surfaces:
    """All surfaces of a memory for one caller."""

    memory: MemoryService
    caller: Turn
    commands: Commands = field(init=False)
    tools: Tools = field(init=False)
    agent: AgentTools = field(init=False)

    def __post_init__(self) -> None:
        # Which lines were listed before belongs to the asker, and each one starts with none.
        self.memory.references = References()
        self.commands = Commands(self.memory)
        self.tools = Tools(self.commands)
        self.agent = AgentTools(self.memory, self.caller)

    async def read(self, question: str, previous: str) -> Given:
        """What they give to a question; nothing is altered."""
        await self.memory.recall.settle()
        if self.memory.graph.state is not GraphState.CLOSED:
            await self.memory.graph.settle()
        asker, recall = self.caller.asker, self.memory.recall
        commands, caller = self.commands, self.caller
        found = await recall.remind(asker, question, RecallOptions(20))
        reminded = await recall.remind(
            asker, question, RecallOptions(budget=300, previous=previous)
        )
        mine = await self.memory.library.mine(asker)
        return {
            "remind": _items(reminded),
            "search": _items(found),
            "block": reminded.block,
            "trace": _trace(reminded),
            "explain": await recall.explain(asker),
            "why": await commands.privacy.why(caller),
            "mine": [
                (line.fact, line.subject, line.object, line.session, line.strength, line.superseded)
                for line in mine
            ],
            "/mine": await commands.mine(caller),
            "/search": await commands.search(caller, question),
            "/status": await commands.status(caller),
            "/preview": await commands.preview(caller),
            "memory_recall": await self.tools.recall(caller, question),
            "memory_recall, person": await self.tools.recall(caller, question, "小红"),
            "memory_recall, time": await self.tools.recall(caller, question, "", "昨天"),
            "memory_recall, all": await self.tools.recall(caller, ""),
            "MCP": await self.agent.use("memory_recall", {"query": question}),
            "MCP, all": await self.agent.use("memory_recall", {}),
            **await self._companion(question),
            **await self._viewed(question),
            **await self._learner(question),
        }

    async def _companion(self, question: str) -> Given:
        """What the companion puts before the model and tells of what it keeps."""
        caller, records = self.caller, self.commands.companion
        word = question[:2]
        lead = await self.memory.companion.lead(
            replace(caller, text=question), self.memory.references.citing(caller)
        )
        given: Given = {
            "lead": list(chain(*lead.paragraphs, lead.records)),
            "/records": await records.records(caller),
            **{f"/records {n}": await records.records(caller, str(n)) for n in (1, 2, 3)},
            "/core": await records.core(caller),
            "/inner": await records.inner(caller),
            "/inner history": await records.inner(caller, "history"),
            "/proactive": await records.proactive(caller),
            "search_history": await records.search(caller, word),
            "search_history, person": await records.search(caller, "", "小红"),
            "search_history, time": await records.search(caller, word, "", "昨天"),
        }
        for id in sorted(set(re.findall(r"m:[0-9a-f]+", "".join(map(str, given.values())))))[:3]:
            given[f"open_record {id}"] = await records.open(caller, id)
        care = self.memory.companion.proactive
        given["what is shown before speaking first"] = [
            await care._record(caller.session, row) for row in await care.standing(caller.session)
        ]
        return given

    async def _viewed(self, question: str) -> Given:
        """What the page shows its owner who views as the caller, and summaries of periods."""
        memory, asker = self.memory, self.caller.asker
        outlook = await memory.view_as.outlook(asker, memory.now())
        compared = await memory.view_as.compare(asker, question)
        view_of = view_for(asker, memory.settings.policy, memory.attendance)

        def summaries(rows: Rows) -> list[Row]:
            visible = VisibleRows(rows, asker, view_of)
            return [each for each in rows.scan(Episode) if each.is_record and visible.shows(each)]

        return {
            "view-as": [
                (outlook.facts[id], sign, id in outlook.foreign)
                for id, sign in outlook.seen.items()
            ],
            "view-as, question": _items(compared.told),
            "summaries": await memory.journal.read(summaries),
        }

    async def _learner(self, text: str) -> Given:
        """What the model is shown beside a batch of this chat, and what would be written."""
        memory, session = self.memory, self.caller.session
        now = memory.now()
        said = Message(0, session.id, self.caller.user, self.caller.name, text, now)
        batch = Batch(0, session, (said,))

        def work(rows: Rows) -> Given:
            known = ContextBuilder(memory.context.learnable(rows, session), batch).fill({})
            answer = extraction(batch, tuple(known.facts), replaces=True, restates=True)
            made = resolve(rows, batch, answer, known, memory.context, now)
            draft = made.draft("learn", "learned", batch=batch.id)
            lesson = memory.companion.teach(rows, batch, known)
            return {
                "learner's prompt": compose(batch, known, memory.zone, lesson).prompt,
                "learner's known": known,
                "learner's rows": [(row.kind, encode(row)) for row in draft.put],
            }

        return await memory.journal.read(work)

    async def exported(self) -> Given:
        """What the caller may take out of the memory."""
        path, _ = await self.memory.transfer.own(self.caller.asker)
        text = path.read_text(encoding="utf-8")
        shown = await self.commands.transfers.unsent(self.caller, path)
        return {"/export": text, "/export, as a message": shown}

    async def refused(self, id: str) -> Given:
        """What is answered about a fact that is not there for the caller."""
        said = Message(1, self.caller.session.id, self.caller.user, self.caller.name, "不对", 0.0)
        turn = replace(self.caller, message=said)
        return {
            "/forget hidden": await self.commands.forget(self.caller, id),
            "/correct hidden": await self.commands.correct(self.caller, f"{id} 我不吃花生"),
            "memory_forget hidden": await self.tools.forget(self.caller, id),
            "memory_correct hidden": await self.tools.correct(turn, id, "不吃花生"),
            "MCP, forget hidden": await self.agent.use("memory_forget", {"id": id}),
            "MCP, correct hidden": await self.agent.use(
                "memory_correct", {"id": id, "text": "不吃花生"}
            ),
        }

    async def alter(self, question: str) -> Given:
        """What happens when the caller forgets the first of the last list, and undoes it.

        Undoing reaches whatever the caller did last, in this chat or elsewhere: it is the
        caller's own act. So it is tried only where that is the forgetting just before.
        """
        before = await last_change(self.memory.journal)
        given: Given = {"/forget": await self.commands.forget(self.caller, "1")}
        if await last_change(self.memory.journal) > before:
            given |= await self._listed("/forget", question)
            given["/undo"] = await self.commands.undo(self.caller)
            given |= await self._listed("/undo", question)
        return given

    async def _listed(self, after: str, question: str) -> Given:
        await self.memory.recall.settle()
        return {
            f"/mine after {after}": await self.commands.mine(self.caller),
            f"/search after {after}": await self.commands.search(self.caller, question),
        }


def _items(recall: Recall) -> list[tuple[object, ...]]:
    assert not recall.trace.problem, recall.trace.problem
    return [
        (i.kind, i.id, i.text, i.at, i.score, i.session, i.foreign, i.messages)
        for i in recall.items
    ]


def _trace(recall: Recall) -> tuple[object, ...]:
    trace = recall.trace
    return trace.query, trace.named, trace.visible, trace.candidates


def differences(full: Given, alone: Given) -> list[tuple[str, Any, Any]]:
    """Where two memories differ: surface, what one gives, what the other gives."""
    assert full.keys() == alone.keys()
    return [(key, full[key], alone[key]) for key in full if full[key] != alone[key]]
