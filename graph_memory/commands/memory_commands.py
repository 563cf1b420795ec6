"""The ``/memory`` commands: text in, text out, nothing of AstrBot.

Everybody sees what recall would show them here. What concerns everyone's memory is for
admins, and its contents for admins in a private chat only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from urllib.parse import urlencode

from ..access import LINK_AGE, Access
from ..dates import day_over, periods, without_times
from ..errors import ConflictError, NotFoundError
from ..inspect.health import describe, learning_failure
from ..library import NamedChange
from ..locales import TEXTS, explain, in_all, say
from ..model import Asker, Change, Fact, Turn
from ..privacy.redaction import disclosed, secrets
from ..recall import Item, telling, without_name
from ..references import Reference
from ..remember_requests import request
from ..service import MemoryService
from ..store.rows import ASKED
from ..text import clean_name, fenced, one_line, says_something, simplified, terms
from .companion_commands import CompanionCommands
from .people_commands import PeopleCommands
from .privacy_commands import PrivacyCommands
from .transfers import TransferCommands
from .usage import (
    CONFIRM,
    EVERYTHING,
    LAST,
    LISTED,
    MAX_GIVEN,
    ME,
    NEEDED,
    NOW,
    THAT_ONE,
    Answers,
    help_text,
    misused,
    number_of,
    numbered,
    several,
)

MAX_STATEMENT = 120
JUST = 600.0
"""Seconds for which a change was made just now."""
MESSAGE = "message"
"""Kind of a memory that is somebody's very words."""
_THAT = re.compile(r"(?i)\A\s*that\s+(?=\S)")
"""What /memory remember that … begins with."""
_PAGE = re.compile(
    r"(?s)(?P<text>.*\S)(?:\s+|[，,]\s*)"
    r"(?:p|[pP]age|第)\s?(?P<page>\d{1,5}|[一二两三四五六七八九十]{1,3}(?=\s?页))\s?页?"
)
"""What is searched for, with a page of it at the end: 生日 第2页, 生日 第二页, birthday p2; but
not 华为 P40."""


class Commands(Answers):
    """The commands of one open memory.

    Attributes:
        web: Address of the memory page; empty if it is off.
        access: What opens it.
    """

    def __init__(self, memory: MemoryService) -> None:
        super().__init__(memory)
        self.web = ""
        self.access: Access | None = None
        self.privacy = PrivacyCommands(memory)
        self.people = PeopleCommands(memory)
        self.transfers = TransferCommands(memory)
        self.companion = CompanionCommands(memory)
        self._stuck: set[int] = set()
        """Changes of which people were told that they cannot be undone."""
        self._asked: dict[str, int] = {}
        """Old changes of which people were asked whether to undo them, by user."""

    async def help(self, turn: Turn, words: str = "") -> str:
        """What there is; in a group for everybody."""
        parts = self.memory.settings.companion
        return help_text(self._language, parts, admin=turn.is_owner)

    async def status(self, turn: Turn) -> str:
        """How the memory is doing; details for admins only."""
        if turn.is_owner:
            health = await self.memory.health()
            lines = [describe(health, self._language, self.memory.zone, self.web)]
        else:
            mine = await self.memory.library.mine(turn.asker)
            lines = [self._say("status", mine=len(mine))]
        lines.append(self.refusal(turn, "status_paused"))
        if turn.is_admin and not turn.is_owner:
            lines.append(self._say("status_more"))
        return "\n".join(filter(None, lines))

    async def page(self, turn: Turn) -> str:
        """Where the memory page is, with a link that logs in once; for the owner only."""
        if not turn.is_owner:
            return self._say("page_private")
        if not (self.web and self.access):
            wrong = self.memory.problems.get("webui")
            return f"🧠 {explain(self._language, wrong) if wrong else self._say('page_off')}"
        link = f"{self.web}/login?{urlencode({'link': self.access.link()})}"
        told = self._say("page_link", url=self.web, link=link, minutes=round(LINK_AGE / 60))
        is_public = bool(self.memory.settings.webui_public_url)
        return told if is_public else f"{told}\n{self._say('page_near')}"

    async def mine(self, turn: Turn, page: str = "") -> str:
        """What is known about the speaker, as far as it may be shown here; a page of it."""
        if page.casefold() not in ("", *EVERYTHING) and number_of(page) is None:
            return misused(self._language, "mine", page)
        known = await self.memory.library.mine(turn.asker)
        if not known:
            return self._say("mine_none")
        pages = -(-len(known) // LISTED)
        at = max(1, min(number_of(page) or 1, pages))
        shown = known[(at - 1) * LISTED : at * LISTED]
        facts = [line.fact for line in shown]
        listed = [Reference(Fact.kind, fact.id, fact.statement) for fact in facts]
        self.memory.references.number(turn, listed)
        said = await self.memory.lookup.signed(turn.asker, facts)
        lines = [
            self._say(
                "fact_line",
                number=number,
                statement=f"〔{who}〕{self._standing(line.fact)}"
                f"{self._where(turn, line.session)}"
                f"{without_name(fenced(line.fact.statement, MAX_STATEMENT), who)}",
                date=self._date(line.fact.said_at),
            )
            for number, (line, who) in enumerate(zip(shown, said, strict=True), 1)
        ]
        title = self._say("mine_title", count=len(known), page=at, pages=pages)
        more = [self._say("mine_more", page=at + 1)] if at < pages else []
        return "\n".join([title, *lines, *more, self._say("forget_hint")])

    async def search(self, turn: Turn, text: str) -> str:
        """All that holds some words; a page of it, if a page is named at its end."""
        return await self._found(turn, text) or self._say("search_none")

    async def _found(self, turn: Turn, text: str) -> str:
        """The same; empty if nothing is found."""
        asked = _PAGE.fullmatch(text)
        wanted, page = asked.group("text", "page") if asked else (text, "")
        if not wanted:
            return self._say("search_what")
        at = number_of(page) or 1
        found = await self.memory.recall.find(
            turn.asker, wanted, LISTED, start=(at - 1) * LISTED, exclude=turn.ids
        )
        pages = -(-found.total // LISTED)
        if at > max(1, pages):
            return await self._found(turn, f"{wanted} p{max(1, pages)}")
        is_last = at >= pages
        similar, title = found.similar if is_last else (), "search_similar"
        if is_last and (then := await self._then(turn, wanted, found.items)):
            similar, title = then, "search_then"
        if not (found.items or similar):
            return ""
        shown = (each for each in (*found.items, *similar) if each.kind in (Fact.kind, MESSAGE))
        listed = [Reference(each.kind, each.id, each.text) for each in shown]
        self.memory.references.number(turn, listed)
        numbers = {(each.kind, each.id): number for number, each in enumerate(listed, 1)}
        lines = []
        if found.items:
            lines.append(self._say("search_title", count=found.total, page=at, pages=pages))
            lines += [self._line(item, numbers) for item in found.items]
        if similar:
            lines.append(self._say(title))
            lines += [self._line(item, numbers) for item in similar]
        if not is_last:
            text = one_line(wanted, MAX_STATEMENT)
            lines.append(self._say("search_more", text=text, page=at + 1))
        hint = [self._say("forget_hint")] if listed else []
        return "\n".join([*lines, *hint])

    async def _then(self, turn: Turn, wanted: str, shown: Sequence[Item]) -> tuple[Item, ...]:
        """What is of a time, if that is all that is searched for: 昨天, last week."""
        if says_something(terms(without_times(wanted))):
            return ()
        found = await self.memory.lookup.find(
            turn.asker, "", time=wanted, limit=LISTED, exclude=turn.ids
        )
        there = {item.key for item in shown}
        return tuple(item for item in found.items if item.key not in there)

    def _line(self, item: Item, numbers: Mapping[tuple[str, str], int]) -> str:
        number = numbers.get((item.kind, item.id))
        return self._say("item_numbered" if number else "item_plain", number=number, text=item.text)

    async def preview(self, turn: Turn) -> str:
        """What the settings would forget, and when; even how much is for owners only."""
        settings = self.memory.settings
        if not settings.time_decay_rate or not settings.floor:
            return self._say("preview_never")
        if not turn.is_owner:
            return self._say("preview_private")
        lines = [self._say("preview_title")]
        listed: set[str] = set()
        for forecast in await self.memory.upkeep.preview(limit=LISTED):
            key = "preview_days" if forecast.days else "preview_now"
            label = self._say(key, days=forecast.days)
            lines.append(self._say("preview_count", label=label, total=forecast.total))
            for line in forecast.lines:
                if line.fact.id not in listed:
                    listed.add(line.fact.id)
                    statement = one_line(line.fact.statement, MAX_STATEMENT)
                    strength = round(line.strength * 100)
                    lines.append(self._say("preview_line", statement=statement, strength=strength))
        return "\n".join(lines)

    async def backup(self, turn: Turn) -> str:
        """Copy the journal now."""
        return self._say("backup_made", name=(await self.memory.backups.make()).name)

    async def doctor(self, turn: Turn) -> str:
        """Check journal, graph and index, and mend them; tells no contents."""
        checkup = await self.memory.doctor()
        lines = [self._say("doctor_title", seconds=round(checkup.seconds, 1))]
        for finding in checkup.findings:
            what = self._say(f"doctor.{finding.code}", count=finding.count)
            key = "doctor_mended" if finding.is_mended else "doctor_left"
            lines.append(self._say(key, what=what))
        lines.append(self._say("doctor_log" if checkup.findings else "doctor_well"))
        counts = {"items": checkup.documents, "vectors": checkup.vectors}
        lines.append(self._say("doctor_counts", **counts, changes=checkup.changes))
        if self.memory.is_loading:
            lines.append(self._say("health_embedder", name=self._say("loading")))
        return "\n".join(lines)

    async def remember(self, turn: Turn, words: str = "") -> str:
        """Remember at once what a turn says."""
        asking, asked = request(turn.text) or ("", _THAT.sub("", turn.text))
        turn = replace(turn, text=asked or (asking if turn.quote else ""))
        if not (says_something(terms(turn.text)) or (turn.text and turn.quote)):
            return self._say("remember_what")
        if refusal := self.refusal(turn):
            return refusal
        besides = self.memory.companion.remembering(turn)
        try:
            await self.memory.learning.remember(turn, besides=besides)
        except NotFoundError:
            return self._say("remember_gone")
        has_secret = secrets(turn.text)
        return self._say("remembered_masked" if has_secret else "remembered")

    async def flush(self, turn: Turn, what: str = "") -> str:
        """Learn now what has gathered in this chat, or everywhere (``all``)."""
        learning = self.memory.learning
        everywhere = what.casefold() in EVERYTHING
        if what and not everywhere:
            return misused(self._language, "flush", what, EVERYTHING)
        if everywhere:
            await learning.revive()
        circle = None if everywhere else turn.session.circle
        batches = await learning.flush(circle)
        status = await learning.status(circle)
        lines = [self._say("flushed", batches=batches)]
        if status.waiting:
            lines.append(self._say("flushed_waiting", waiting=status.waiting))
        if status.dead:
            lines.append(self._say("flushed_dead", dead=status.dead))
        spending = self.memory.spending.today()
        if spending.blocked_for:
            lines.append(self._say("spent", limit=spending.limit))
        elif status.failed:
            lines.append(learning_failure(status, self._language))
        return "\n".join(lines)

    async def forget(self, turn: Turn, which: str) -> str:
        """Forget lines by number or id, now or one of them once a day is over."""
        if which.casefold() in ME | EVERYTHING:
            return self._say("forgetme_first", account="")
        (number, day), many = numbered(which), several(which)
        is_last = LAST.fullmatch(simplified(which)) is not None
        memories = await self._last(turn) if is_last else []
        if not which or (is_last and not memories):
            return self._say("forget_what")
        for each in [] if is_last else many or [number]:
            if (memory := self._meant(turn, each)) is None:
                return await self._offered(turn, each if number_of(each) else which, "forget_among")
            memories.append(memory)
        asker = None if turn.is_admin else turn.asker
        try:
            if day and not (many or is_last) and day.casefold() not in NOW:
                return await self.forget_later(turn, memories[0], day, asker)
            change = await self.drop(turn, memories, asker)
        except NotFoundError:
            return self._say("forget_denied_many" if len(memories) > 1 else "forget_denied")
        texts = [one_line(memory.text, MAX_STATEMENT) for memory in memories]
        if len(memories) > 1:
            nothing = self._say("undo_unnamed")
            lines = "\n".join(self._say("item_plain", text=text or nothing) for text in texts)
            return self._say("forgotten_many", count=len(memories), lines=lines)
        gone = sum(op.row is None and op.kind == Fact.kind for op in change.ops)
        key = "forgotten_id" if not texts[0] else "forgotten_all" if gone > 1 else "forgotten"
        return self._say(key, statement=texts[0])

    async def _offered(self, turn: Turn, given: str, among: str) -> str:
        """That there is no such number, and what holds the words, if it is words."""
        named = one_line(given, MAX_STATEMENT)
        wanted = "" if number_of(named) or ":" in named else THAT_ONE.sub("", named)
        if wanted and (found := await self._found(turn, wanted)):
            return f"{self._say(among, given=named)}\n{found}"
        return self._say("forget_number", number=named)

    async def _last(self, turn: Turn) -> list[Reference]:
        """What the speaker told last in this chat, or the facts it became."""
        found = await self.memory.library.last_told(turn.asker, turn.session.id, telling)
        if found is None:
            return []
        said, facts = found
        lines = [Reference(Fact.kind, fact.id, fact.statement) for fact in facts]
        return lines or [Reference(MESSAGE, str(said.id), disclosed(said).text)]

    async def drop(self, turn: Turn, memories: Sequence[Reference], asker: Asker | None) -> Change:
        """Forget facts and somebody's very words; as :meth:`Library.forget`."""
        facts = [memory.id for memory in memories if memory.kind != MESSAGE]
        said = [int(memory.id) for memory in memories if memory.kind == MESSAGE]
        return await self.memory.library.forget(facts, asker, turn.user, said)

    async def forget_later(
        self, turn: Turn, memory: Reference, day: str, asker: Asker | None
    ) -> str:
        """Have a fact forgotten once a day is over; as :meth:`Library.forget`."""
        if memory.kind != Fact.kind:
            return self._say("forget_words")
        at = day_over(day, self.memory.now(), self.memory.zone)
        if at is None:
            now = self.memory.now()
            is_past = any(end <= now for _, end in periods(day, now, self.memory.zone))
            key = "forget_past" if is_past else "forget_when"
            return self._say(key, day=one_line(day, MAX_GIVEN))
        await self.memory.library.expire(memory.id, at, asker, turn.user)
        statement = fenced(memory.text, MAX_STATEMENT)
        key = "forget_later" if statement else "forget_later_id"
        return self._say(key, statement=statement, day=self._date(at - 1))

    async def correct(self, turn: Turn, which: str) -> str:
        """Replace a listed fact; ``which`` is its number or id, then how it really is."""
        number, words = numbered(which)
        if not number or not says_something(terms(words)):
            return self._say("correct_what")
        last = await self._last(turn) if LAST.fullmatch(simplified(number)) else []
        if last and (last[0].kind == MESSAGE or len(last) > 1):
            return self._of_last(turn, last)
        memory = last[0] if last else self._meant(turn, number)
        if memory is None:
            is_word = says_something(terms(number))
            return await self._offered(turn, number if is_word else which, "correct_among")
        if refusal := self.refusal(turn):
            return refusal
        try:
            new = await self.put_right(turn, memory, words)
        except NotFoundError as error:
            reason = explain(self._language, error)
            return f"🧠 {reason}" if error.code else self._say("correct_denied")
        said = without_name(fenced(new.statement, MAX_STATEMENT), clean_name(turn.name))
        old = fenced(memory.text or memory.id, MAX_STATEMENT)
        return self._say("corrected", statement=said, old=old)

    async def put_right(self, turn: Turn, memory: Reference, words: str) -> Fact:
        """Replace a fact that was shown; as :meth:`Library.correct`."""
        change = await self.memory.library.correct(memory.id, words, turn)
        new = next(op.row for op in change.ops if isinstance(op.row, Fact))
        if memory.id in new.supersedes:  # what number and short id stand for from now on
            line = Reference(Fact.kind, new.id, new.statement)
            self.memory.references.replace(turn, memory, line)
        return new

    def _of_last(self, turn: Turn, last: list[Reference]) -> str:
        """Which fact of what was told last is to be corrected, or that it is none yet."""
        if last[0].kind == MESSAGE:
            return self._say("correct_words")
        self.memory.references.number(turn, last)
        texts = (one_line(line.text, MAX_STATEMENT) for line in last)
        lines = [self._say("item_numbered", number=n, text=t) for n, t in enumerate(texts, 1)]
        return "\n".join([self._say("correct_which"), *lines])

    def _meant(self, turn: Turn, which: str) -> Reference | None:
        """What a number, a short id or an id stands for; whose it is shows later."""
        if shown := self._shown(turn, which):
            return shown if shown.kind in (Fact.kind, MESSAGE) else None
        return Reference(Fact.kind, which, "") if ":" in which else None

    async def undo(self, turn: Turn, words: str = "") -> str:
        """Take the speaker's last change back; an old one once that is confirmed."""
        is_confirmed = words.casefold() in CONFIRM
        if words and not is_confirmed:
            return misused(self._language, "undo", words, CONFIRM)
        found = await self.memory.library.last_act(turn.user, self._stuck, turn.asker)
        if found is None:
            return self._say("undo_none")
        last, what = found.change, self._named(found)
        when = self._ago(last.at)
        is_new = await self.memory.library.is_present(turn.session.id, last.at)
        is_sure = is_confirmed and self._asked.get(turn.user) == last.id
        if not (is_new or is_sure or last.is_trimmed):
            self._asked[turn.user] = last.id
            did = self._say(f"reason.{found.reason}")
            return self._say("undo_ask", when=when, did=did, what=what)
        try:
            undone = await self.memory.library.undo(last.id, turn.user)
        except NotFoundError as error:
            return f"🧠 {explain(self._language, error)}" if error.code else self._say("undo_none")
        except ConflictError as error:
            self._stuck.add(error.change)
            return self._say("undo_conflict")
        key = self._key("undone", found)
        if found.reason == ASKED and all(op.row for op in undone.ops if op.kind == Fact.kind):
            key = "undone_again"
        done = self._say(key, when=when, what=what)
        return f"{done}\n{self._say('redo_hint')}"

    async def redo(self, turn: Turn) -> str:
        """Take back the speaker's undo, if it was the last thing they did."""
        last = await self.memory.library.last_undo(turn.user, turn.asker)
        if last is None:
            return self._say("redo_none")
        try:
            await self.memory.library.undo(last.change.id, turn.user)
        except (NotFoundError, ConflictError):
            return self._say("redo_none")
        return self._say(self._key("redone", last), what=self._named(last))

    def _key(self, done: str, told: NamedChange) -> str:
        key = f"{done}_{told.reason}"
        return key if key in TEXTS[self._language] else done

    def _named(self, told: NamedChange) -> str:
        """What a change is about, in the words of what it altered."""
        return fenced(told.words, MAX_STATEMENT) or self._say("undo_unnamed")

    def _ago(self, at: float) -> str:
        is_new = self.memory.now() - at < JUST
        return self._say("undo_just") if is_new else self._say("undo_at", at=self._moment(at))


ALONE = frozenset({"status", "page", "redo", "why", "preview", "backup", "doctor"})
"""Commands that take no words: with some, they show their usage."""
TERSE = ALONE | {"help", "mine", "records", "forget"}
"""Commands that take a number at most, with a day: with other words, and no prefix, they may be
talk."""
ADMINS = frozenset(
    {"page", "people", "flush", "preview", "backup", "doctor", "move", "restore", "import"}
)
"""Commands for admins only."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the ``memory`` group.

    ``aliases`` are separated by spaces, and ``method`` is the path of its method in
    ``Commands``, by default its name.
    """

    name: str
    aliases: str
    method: str = ""

    @property
    def about(self) -> str:
        """What it does, in both languages, as the host's lists show it."""
        return " · ".join(in_all(f"command.{self.name}").values())

    async def answer(self, commands: Commands, turn: Turn, words: str) -> str:
        """Run it, or show its usage, or that it is off."""
        language, part = commands.memory.settings.language, NEEDED.get(self.name)
        if part and part not in commands.memory.companion.parts:
            return say(language, "part_off", part=part)
        method = attrgetter(self.method or self.name)(commands)
        if self.name not in ALONE:
            return str(await method(turn, words))
        if words:
            return misused(language, self.name, words)
        return str(await method(turn))


COMMANDS = (
    Command("help", "帮助"),
    Command("status", "状态"),
    Command("mine", "我的 查看"),
    Command("search", "查找 搜索 查询"),
    Command("remember", "记住"),
    Command("forget", "忘掉 忘记 删除"),
    Command("correct", "更正 纠正 修改"),
    Command("records", "记录", "companion.records"),
    Command("core", "核心", "companion.core"),
    Command("undo", "撤销"),
    Command("redo", "重做"),
    Command("why", "为什么", "privacy.why"),
    Command("pause", "暂停", "privacy.pause"),
    Command("resume", "继续", "privacy.resume"),
    Command("forgetme", "忘记我", "privacy.forget_me"),
    Command("inner", "内心", "companion.inner"),
    Command("proactive", "主动", "companion.proactive"),
    Command("page", "网页"),
    Command("people", "人物", "people.answer"),
    Command("flush", "学习"),
    Command("preview", "预览"),
    Command("backup", "备份"),
    Command("doctor", "检查"),
    Command("move", "迁移", "transfers.move"),
)
