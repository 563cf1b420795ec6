"""What ``/memory`` answers: text in, text out, nothing of AstrBot.

Everybody sees what recall would show them here, so a private matter never surfaces in a
group. What concerns everyone's memory is for admins, and its contents for admins in a
private chat only.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime

from .breaker import BreakerState
from .caller import Caller
from .errors import ConflictError, NotFoundError
from .library import FactLine
from .phrases import say
from .privacy import Privacy
from .service import Health, MemoryService
from .text import one_line
from .upkeep import Forecast

__all__ = ["Caller", "Commands"]

LISTED = 10
"""Lines in a list; a chat message is no place for more."""
MAX_LISTS = 500
"""Chats whose last list is remembered, so that its numbers can be used."""
MAX_STATEMENT = 120


class Commands:
    """The commands of one open memory.

    Attributes:
        privacy: Those by which people look after what is known about them.

    Args:
        web: Where the memory page is; empty if it is off.
    """

    def __init__(self, memory: MemoryService, web: str = "") -> None:
        self._memory = memory
        self._language = memory.settings.language
        self._lists: OrderedDict[tuple[str, str], list[tuple[str, str]]] = OrderedDict()
        self.web = web
        self.privacy = Privacy(memory)

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)

    # ------------------------------------------------------------------ asking

    async def help(self, caller: Caller) -> str:
        """What there is."""
        return self._say("help")

    async def status(self, caller: Caller) -> str:
        """How the memory is doing; details for admins only."""
        if caller.is_owner:
            return self._health(await self._memory.health())
        mine = await self._memory.library.mine(caller.asker, limit=1000)
        lines = [self._say("status", mine=len(mine))]
        if caller.is_admin:
            lines.append(self._say("status_more"))
        return "\n".join(lines)

    async def mine(self, caller: Caller) -> str:
        """What is known about the caller, as far as it may be shown here."""
        found = await self._memory.library.mine(caller.asker, limit=LISTED)
        if not found:
            return self._say("mine_none")
        self._remember_list(caller, [(line.fact.id, line.fact.statement) for line in found])
        lines = [self._fact(number, line) for number, line in enumerate(found, 1)]
        return "\n".join([self._say("mine_title"), *lines, self._say("forget_hint")])

    async def search(self, caller: Caller, text: str) -> str:
        """What comes to mind at ``text``."""
        if not text:
            return self._say("search_what")
        found = await self._memory.recall.search(caller.asker, text, LISTED)
        if not found.items:
            return self._say("search_none")
        facts = [item for item in found.items if item.kind == "fact"]
        self._remember_list(caller, [(item.id, item.text) for item in facts])
        numbers = {item.id: number for number, item in enumerate(facts, 1)}
        lines = [
            self._say("item_numbered", number=numbers[item.id], text=item.text)
            if item.id in numbers
            else self._say("item_plain", text=item.text)
            for item in found.items
        ]
        hint = [self._say("forget_hint")] if facts else []
        return "\n".join([self._say("search_title"), *lines, *hint])

    async def look_up(self, caller: Caller, query: str) -> str:
        """What the chat model is told when it looks something up for the caller."""
        top = self._memory.settings.retrieval_top_k
        found = await self._memory.recall.search(caller.asker, query, top)
        return found.block or self._say("search_none")

    async def preview(self, caller: Caller) -> str:
        """What the settings would forget, and when."""
        settings = self._memory.settings
        if not settings.time_decay_rate or not settings.min_importance_threshold:
            return self._say("preview_never")
        lines = [self._say("preview_title")]
        listed: set[str] = set()
        for forecast in await self._memory.upkeep.preview(limit=LISTED):
            lines += self._forecast(forecast, listed, contents=caller.is_owner)
        if not caller.is_owner:
            lines.append(self._say("preview_private"))
        return "\n".join(lines)

    async def backup(self, caller: Caller) -> str:
        """Copy the journal now."""
        return self._say("backup_made", name=(await self._memory.backups.make()).name)

    async def doctor(self, caller: Caller) -> str:
        """Check journal, graph and index, and mend them; tells no contents."""
        checkup = await self._memory.doctor()
        lines = [self._say("doctor_title", seconds=round(checkup.seconds, 1))]
        for finding in checkup.findings:
            what = self._say(f"doctor_{finding.code}", count=finding.count)
            lines.append(
                self._say("doctor_mended" if finding.is_mended else "doctor_left", what=what)
            )
        lines.append(self._say("doctor_log" if checkup.findings else "doctor_well"))
        counts = {"items": checkup.documents, "vectors": checkup.vectors}
        lines.append(self._say("doctor_counts", **counts, changes=checkup.changes))
        return "\n".join(lines)

    # ---------------------------------------------------------------- changing

    async def remember(self, caller: Caller, text: str) -> str:
        """Remember ``text`` at once."""
        if not text:
            return self._say("remember_what")
        if caller.session.is_group and not self._memory.settings.enable_group_learning:
            return self._say("group_off")
        if self._memory.learning.pauses.covers(caller.session, caller.user):
            return self._say("remember_paused")
        await self._memory.learning.remember(caller.session, caller.user, caller.name, text)
        return self._say("remembered")

    async def flush(self, caller: Caller, what: str = "") -> str:
        """Learn now what has gathered in this chat, or everywhere (``all``)."""
        learning = self._memory.learning
        everywhere = what.casefold() in {"all", "全部"}
        if everywhere:
            await learning.revive()
        batches = await learning.flush(None if everywhere else caller.session.circle)
        status = await learning.status()
        if status.waiting or status.dead:
            waiting = status.waiting + status.dead
            error = one_line(status.last_error, MAX_STATEMENT)
            return self._say("flushed_waiting", batches=batches, waiting=waiting, error=error)
        return self._say("flushed", batches=batches)

    async def forget(self, caller: Caller, which: str) -> str:
        """Forget a fact by its number in the caller's last list, or by its id."""
        if not which:
            return self._say("forget_what")
        id, statement = which, ""
        if which.isdecimal():
            listed = self._lists.get((caller.user, caller.session.circle), [])
            if not 1 <= int(which) <= len(listed):
                return self._say("forget_number", number=which)
            id, statement = listed[int(which) - 1]
        try:
            await self._memory.library.forget(
                id, None if caller.is_admin else caller.asker, caller.user
            )
        except NotFoundError:
            return self._say("forget_denied")
        if statement:
            return self._say("forgotten", statement=one_line(statement, MAX_STATEMENT))
        return self._say("forgotten_id")

    async def undo(self, caller: Caller) -> str:
        """Take the caller's last change back."""
        try:
            await self._memory.library.undo(None, caller.user)
        except NotFoundError:
            return self._say("undo_none")
        except ConflictError as error:
            return self._say("undo_conflict", later=error.later)
        return self._say("undone")

    # --------------------------------------------------------------- rendering

    def _remember_list(self, caller: Caller, listed: list[tuple[str, str]]) -> None:
        self._lists[caller.user, caller.session.circle] = listed
        self._lists.move_to_end((caller.user, caller.session.circle))
        while len(self._lists) > MAX_LISTS:
            self._lists.popitem(last=False)

    def _fact(self, number: int, line: FactLine) -> str:
        said = datetime.fromtimestamp(line.fact.said_at, self._memory.zone)
        return self._say(
            "fact_line",
            number=number,
            statement=one_line(line.fact.statement, MAX_STATEMENT),
            date=f"{said:%Y-%m-%d}",
            strength=round(line.strength * 100),
        )

    def _forecast(self, forecast: Forecast, listed: set[str], *, contents: bool) -> Sequence[str]:
        label = (
            self._say("preview_days", days=forecast.days)
            if forecast.days
            else self._say("preview_now")
        )
        lines = [self._say("preview_count", label=label, total=forecast.total)]
        for line in forecast.lines if contents else ():
            if line.fact.id not in listed:
                listed.add(line.fact.id)
                statement = one_line(line.fact.statement, MAX_STATEMENT)
                strength = round(line.strength * 100)
                lines.append(self._say("preview_line", statement=statement, strength=strength))
        return lines

    def _health(self, health: Health) -> str:
        counts, learning = health.counts, health.learning
        state = self._say("ready" if health.recall_ready else "building")
        lines = [
            self._say("health_title"),
            self._say(
                "health_counts",
                facts=counts.get("fact", 0),
                episodes=counts.get("episode", 0),
                messages=counts.get("messages", 0),
                buffered=counts.get("buffered", 0),
            ),
            self._say(
                "health_index",
                state=state,
                items=health.index_items,
                vectors=health.index_vectors,
            ),
            self._say("health_embedder", name=health.embedder or self._say("none")),
            self._say("health_graph", state=health.graph, applied=health.graph_applied),
            self._say(
                "health_learning",
                waiting=learning.waiting,
                dead=learning.dead,
                calls=learning.calls,
            ),
            self._say("health_upkeep", when=self._when(health.upkeep_at)),
        ]
        if learning.last_error:
            error = one_line(learning.last_error, MAX_STATEMENT)
            lines.insert(-1, self._say("health_error", error=error))
        if self.web:
            lines.append(self._say("health_web", url=self.web))
        lines += self._troubles(health)
        lines += [self._say("health_problem", problem=problem) for problem in health.problems]
        return "\n".join(lines)

    def _troubles(self, health: Health) -> list[str]:
        """What is wrong with the disk and with the models, and what to do."""
        lines = [self._say(f"storage_{health.storage_kind}")] if health.storage_kind else []
        for key, breaker in health.breakers.items():
            if breaker.state is not BreakerState.CLOSED:
                what = self._say(f"breaker_{key}")
                reason = one_line(breaker.reason, MAX_STATEMENT)
                seconds, failures = math.ceil(breaker.retry_in), breaker.failures
                lines.append(
                    self._say(
                        "breaker", what=what, failures=failures, seconds=seconds, reason=reason
                    )
                )
        return lines

    def _when(self, at: float | None) -> str:
        if at is None or not math.isfinite(at):
            return self._say("never")
        return f"{datetime.fromtimestamp(at, self._memory.zone):%Y-%m-%d %H:%M}"
