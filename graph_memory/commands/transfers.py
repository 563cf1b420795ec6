"""Commands ``/memory export``, ``import`` and ``move``, without AstrBot.

Everybody may take away what they may see, in a private chat: the file is there until it was
sent. Everything else is the owner's, and nothing is written before it was shown what would
be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError, NotFoundError, StorageError
from ..locales import explain
from ..model import Turn
from ..service import MemoryService
from ..store.queries import is_known
from ..text import one_line
from ..transfer import (
    Importer,
    Options,
    Plan,
    Run,
    circle_meant,
    full_names,
    preview_renaming,
    rename_chat,
)
from .usage import CONFIRM as _YES
from .usage import EVERYTHING, LEARN, LISTED, UNDO, Answers, Wishes, account, misused, nearest

MAX_TEXT = 3_000
"""Characters of a file that is shown as a message, where files cannot be sent."""
MAX_ACCOUNT = 60
EXPORT_PAUSE = 60.0
"""Seconds from one file of a user to the next."""
MAX_LINE = 60
PATIENCE = 25.0
"""Seconds for which an answer waits for an import; then it goes on in the background."""
CONFIRM = 1800.0
"""Seconds within which an import has to be confirmed."""
_KEYS = ("as", "persona", "platform", "bot", "to")
_NAMED = {"kind": "import_as", "whose": "import_to"}
"""How the owner says what a file does not, by what is wrong with it."""
_Move = tuple[str, str]
"""What a chat was called, and what it is called now."""


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """An answer, and a file that goes with it if it can be sent."""

    text: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class ImportEnvironment:
    """What AstrBot knows and an import needs.

    Attributes:
        astrbot: Its database.
        persona: Of conversations that name none.
        bots: The bot's own accounts.
    """

    astrbot: Path | None = None
    persona: str = ""
    bots: frozenset[str] = frozenset()


class TransferCommands(Answers):
    """The commands by which memories come and go."""

    def __init__(self, memory: MemoryService) -> None:
        super().__init__(memory)
        self._last: dict[str, float] = {}
        self._writing: set[str] = set()
        self._wishes = Wishes[Importer | _Move](memory.now, CONFIRM)

    # --------------------------------------------------------------------- out

    async def export(self, turn: Turn, what: str = "") -> ExportAnswer:
        """Take away what the speaker may see; for owners also everything, or a person.

        Raises:
            JournalError: It cannot be written.
        """
        if turn.session.is_group:
            return ExportAnswer(self._say("export_private"))
        if not what:
            return await self._mine(turn)
        if not turn.is_owner:
            return ExportAnswer(self._say("export_denied"))
        if what.casefold() in EVERYTHING:
            return await self._written("")
        person = account(turn, what)
        if await self.memory.journal.look(lambda db: is_known(db, person)):
            return await self._written(person)
        if nearest(what, EVERYTHING):
            return ExportAnswer(misused(self._language, "export", what, EVERYTHING))
        return ExportAnswer(self._say("no_account", user=one_line(person, MAX_ACCOUNT)))

    async def _mine(self, turn: Turn) -> ExportAnswer:
        user, now = turn.user, self.memory.now()
        self._last = {who: at for who, at in self._last.items() if 0 <= now - at < EXPORT_PAUSE}
        if user in self._writing or user in self._last:
            return ExportAnswer(self._say("export_wait"))
        self._writing.add(user)
        try:
            path, is_whole = await self.memory.transfer.own(turn.asker)
        finally:
            self._writing.discard(user)
        self._last[user] = self.memory.now()
        return ExportAnswer(self._say("export_mine" if is_whole else "export_part"), path)

    async def _written(self, person: str) -> ExportAnswer:
        done = await self.memory.transfer.export(person)
        counts = {"messages": done.counts["message"], "facts": done.counts["fact"]}
        return ExportAnswer(self._say("export_done", path=done.path, lines=done.lines, **counts))

    async def unsent(self, turn: Turn, path: Path) -> str:
        """What to say if a file cannot be sent: what is in it, or where an owner finds it."""
        if turn.is_owner:
            kept = path.with_name(path.name.replace("mine-", "owner-", 1))
            await asyncio.to_thread(path.replace, kept)
            return self._say("export_where", path=kept)
        text = await asyncio.to_thread(_short, path)
        await asyncio.to_thread(path.unlink, True)
        return text or self._say("export_unsent")

    # ---------------------------------------------------------------------- in

    async def import_(self, turn: Turn, what: str, around: ImportEnvironment) -> str:
        """Show what a file would bring, or bring it in once that is confirmed."""
        if not turn.is_owner:
            return self._say("import_private")
        words = what.split()
        try:
            if not words:
                return await self._overview()
            is_confirmed, is_undone = (words[0].casefold() in each for each in (_YES, UNDO))
            is_sure = is_undone and len(words) == 2 and words[1].casefold() in _YES
            if len(words) > 1 and (is_confirmed or is_undone) and not is_sure:
                return misused(self._language, "import", " ".join(words[1:]))
            if is_confirmed:
                return await self._confirm(turn)
            if not is_undone:
                return await self._look(turn, words, around)
            return await self._take_back(is_sure=is_sure)
        except NotFoundError as error:  # nothing to undo
            return explain(self._language, error) if error.code else self._say("import_undo_none")
        except FormatError as error:
            return self._say("import_wrong", reason=self._reason(error))
        except StorageError as error:
            if getattr(error, "kind", ""):
                raise
            return self._say("import_failed", reason=explain(self._language, error))

    def _reason(self, error: FormatError) -> str:
        """Why a file is not taken, and where in it."""
        line = self._say("error_where_line", line=error.line) if error.line else ""
        reason = explain(self._language, error if error.code else error.told("content"))
        found = [line, one_line(error.field, MAX_LINE) if error.field != "into" else "", reason]
        if named := _NAMED.get(error.code):
            found.append(self._say(named, **error.values))
        return self._say("list_comma").join(filter(None, found))

    async def _look(self, turn: Turn, words: list[str], around: ImportEnvironment) -> str:
        given, name, learns = _read(words)
        if unknown := next((key for key in given if key not in _KEYS), ""):
            known = [f"{key}=" for key in _KEYS]
            return misused(self._language, "import", f"{unknown}=", known)
        options = self._options(turn, given, around)
        format = given.get("as", "")
        if name.casefold() == "astrbot" and around.astrbot:
            name, format = str(around.astrbot), "astrbot"
        transfer = self.memory.transfer
        importer = await transfer.importer(name, options, format=format, learns=learns)
        plan = await transfer.preview(importer, PATIENCE)
        if plan is None:
            return self._say("import_looking")
        self._wishes.put(turn, importer)
        return self._plan(plan, learns=learns)

    def _options(self, turn: Turn, given: Mapping[str, str], around: ImportEnvironment) -> Options:
        platform = given.get("platform") or turn.user.partition(":")[0]
        bots = set(filter(None, given.get("bot", "").split(",")))
        return Options(
            zone=self.memory.zone,
            persona=given.get("persona") or around.persona or turn.session.persona,
            platform=platform,
            bots=around.bots | bots,
            into=circle_meant(given.get("to", ""), platform),
            now=self.memory.now(),
        )

    async def _confirm(self, turn: Turn) -> str:
        wish = self._wishes.take(turn)
        if not isinstance(wish, Importer):
            return self._say("import_first")
        works, bringing = self.memory.journal.works, self.memory.transfer.bring(wish)
        if (brought := await works.soon(bringing, PATIENCE)) is None:
            return self._say("import_goes_on")
        key = "import_done" if brought.messages or brought.rows else "import_nothing"
        lines = [self._say(key, messages=brought.messages, rows=brought.rows)]
        if brought.run.learns:
            lines.append(self._say("import_learning"))
        return "\n".join(lines)

    async def _take_back(self, *, is_sure: bool) -> str:
        """Undo the newest import; one of an earlier conversation is named first."""
        runs = await self.memory.transfer.runs()
        importing = any(each.kind == "import" for each in self.memory.journal.works.under_way)
        if importing and not any(run.state == "running" for run in runs):
            return self._say("import_reading")  # the newest one is not there yet
        run = next((run for run in reversed(runs) if run.is_there), None)
        if run and not is_sure and self.memory.now() - run.at > CONFIRM:
            return self._say("import_undo_ask", **self._about(run))
        undone = await self.memory.transfer.undo(run.id if run else "")
        return self._say("import_undone", messages=undone.messages, kept=undone.kept)

    def _about(self, run: Run) -> dict[str, object]:
        return {"when": self._moment(run.at), "messages": run.count, "rows": run.rows}

    async def _overview(self) -> str:
        service, last = self.memory.transfer, self.memory.journal.works.of("import")
        lines = []
        if last and not last.is_over:
            key = "import_progress" if last.total else "import_reading"
            lines.append(self._say(key, done=last.done, total=last.total))
        elif last and last.failure:
            reason = explain(self._language, last.failure)
            lines.append(self._say("import_stopped", name=last.of, reason=reason))
        paths = await service.waiting()
        lines.append(self._say("import_files" if paths else "import_none"))
        lines += [
            self._say("import_file", name=path.name, size=round(path.stat().st_size / 2**20, 1))
            for path in paths[:LISTED]
        ]
        for run in [run for run in await service.runs() if run.is_there][-1:]:
            lines.append(self._say("import_last", **self._about(run)))
        return "\n".join([*lines, self._say("import_how")])

    def _plan(self, plan: Plan, *, learns: bool) -> str:
        say = self._say
        about = {"facts": plan.rows.get("fact", 0), "summaries": plan.rows.get("episode", 0)}
        about |= {"messages": plan.messages, "new": plan.new, "chats": len(plan.chats)}
        lines = [say("import_plan", format=say(f"format.{plan.format}"), **about)]
        if plan.since is not None and plan.until is not None:
            since, until = self._date(plan.since), self._date(plan.until)
            lines.append(say("import_span", since=since, until=until))
        for chat, persona, messages in plan.chats[:LISTED]:
            chat = one_line(chat, MAX_LINE)
            lines.append(say("import_chat", chat=chat, persona=persona, messages=messages))
        for name, text in plan.examples:
            lines.append(say("import_example", name=name or "…", text=one_line(text, MAX_LINE)))
        for reason, count in sorted(plan.skipped.items()):
            lines.append(say(f"import_skipped_{reason}", count=count))
        if plan.batches:
            key = "import_cost" if learns else "import_cost_if"
            lines.append(say(key, batches=plan.batches, tokens=plan.tokens))
        if plan.state in ("done", "running"):
            lines.append(say(f"data.plan_{plan.state}"))
        return "\n".join([*lines, say("import_confirm")])

    # -------------------------------------------------------------------- move

    async def move(self, turn: Turn, what: str) -> str:
        """Let the memories of a chat that has moved belong to where it is now."""
        if not turn.is_owner:
            return self._say("import_private")
        words = what.split()
        try:
            if len(words) == 1 and words[0].casefold() in _YES:
                wish = self._wishes.take(turn)
                if not isinstance(wish, tuple):
                    return self._say("move_first")
                change = await rename_chat(self.memory.journal, *wish, self.memory.now())
                await self.memory.learning.pauses.load()
                return self._say("move_done" if change else "move_none")
            if len(words) != 2:
                return self._say("move_how")
            journal = self.memory.journal
            meant = await full_names(journal, words[0], words[1])
            plan = await preview_renaming(journal, *meant)
        except FormatError as error:
            return self._say("move_wrong", reason=explain(self._language, error))
        if not plan:
            return self._say("move_none")
        self._wishes.put(turn, meant)
        circles = dict(plan)
        lines = [self._say("move_plan", circles=len(circles), sessions=len(plan))]
        for old, new in list(circles.items())[:LISTED]:
            lines.append(self._say("move_line", old=old, new=new))
        return "\n".join([*lines, self._say("move_confirm")])


def _read(words: list[str]) -> tuple[dict[str, str], str, bool]:
    """Options, the file's name, and whether to learn."""
    given: dict[str, str] = {}
    name: list[str] = []
    learns = False
    for word in words:
        key, sign, value = word.replace("＝", "=", 1).partition("=")
        # A file may be called like an option that there is not.
        if sign and (key.casefold() in _KEYS or (key.isidentifier() and word is not words[0])):
            given[key.casefold()] = value
        elif word.casefold() in LEARN:
            learns = True
        else:
            name.append(word)
    return given, " ".join(name).strip('"“”「」'), learns


def _short(path: Path) -> str:
    """What a file says, if that is short enough for a message; else nothing."""
    with path.open(encoding="utf-8") as file:
        text = file.read(MAX_TEXT + 1)
    return text if len(text) <= MAX_TEXT else ""
