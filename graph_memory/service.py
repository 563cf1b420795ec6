"""Composition root of the memory: makes, wires, opens and closes its parts.

The journal is the truth; recall index and graph listen to it and can be rebuilt from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from functools import partial
from pathlib import Path

from .access import Access
from .companion import Companion
from .context import Context
from .coordination import Coordination, Instances
from .data_directory import lock, restrict
from .deletion import ForgetMe, Tombstones
from .embedding import CachedEmbedder
from .errors import ClosedError, EmbeddingError, JournalError, StorageError, brief
from .graph import GraphState, GraphStore
from .inference import Embedder, LanguageModel
from .inference.token_budget import TokenBudget
from .inspect.health import Checkup, Health, behind, check_up
from .inspect.lookup import Lookup
from .inspect.view_as import ViewAs
from .learning import Learning
from .library import Conversations, Library
from .library.identity_edits import IdentityEdits
from .maintenance import Backups, Upkeep, open_journal
from .model import BOT, Change, Erased, Message, Turn
from .privacy.scope import Attendance
from .process_memory import share_heap, trim_heap
from .recall import EMBEDDING_SHARE, Recaller
from .references import References
from .remember_requests import declined
from .settings import Settings
from .store import Rows, copies
from .supervisor import Supervisor
from .transfer import TransferService

logger = logging.getLogger("graph_memory.service")

EMBEDDING_PAUSES = (30.0, 120.0, 600.0)
"""Seconds between attempts to load an embedder; the last one repeats."""


class MemoryService:
    """The parts of an open memory; made by :meth:`open`."""

    def __init__(
        self,
        directory: Path,
        context: Context,
        tombstones: Tombstones,
        model: LanguageModel | None,
    ) -> None:
        self.directory, self.context = directory, context
        self.journal, self.attendance = context.journal, context.attendance
        self.identities = context.identities
        self.zone, self.now, self.spending = context.zone, context.now, context.budget
        self.instances = Instances(context.journal, context.now)
        self.library = Library(context)
        self.conversations = Conversations(context)
        self.recall = Recaller(context)
        self.companion = Companion(context, self.recall)
        self.learning = Learning(
            context, model, likeness=self.recall.likeness, extend=self.companion.teach
        )
        self.identity_edits = IdentityEdits(context)
        self.upkeep = Upkeep(
            context,
            self.library,
            model=model,
            breaker=self.learning.breaker,
            embedding=lambda: self._embedder.name if self._embedder else "",
        )
        self.graph = GraphStore(directory, self.journal)
        self.backups = Backups(context, directory, tombstones, self.graph.discard)
        self.view_as = ViewAs(context, self.recall)
        self.lookup = Lookup(context, self.recall, self.graph)
        self.references = References(can_open=self.settings.enable_function_calling)
        self.forget_me = ForgetMe(self.journal, tombstones, self._unlink, self.now)
        self.transfer = TransferService(directory, context, self.learning)
        self.coordination = Coordination(
            context,
            tombstones,
            self.forget_me.forget,
            self.backups.purge,
            {
                "pause": self.learning.pauses.load,
                "instance": self.instances.load,
                "spending": self.spending.load,
            },
        )
        self._examining = asyncio.Lock()
        self._loading: Supervisor | None = None
        self._embedder: CachedEmbedder | None = None
        self._stack = contextlib.AsyncExitStack()
        self._closed = False
        self.problems: dict[str, Exception] = {}

    @classmethod
    async def open(
        cls,
        directory: Path,
        settings: Settings,
        *,
        zone: tzinfo,
        model: LanguageModel | None = None,
        now: Callable[[], float] = time.time,
    ) -> MemoryService:
        """Open or create the memory in ``directory``, as far as storing messages needs.

        Args:
            zone: The time zone of the people who chat.
            model: Without one, conversations are kept and recalled word for word; what other
                bots share is left for them to learn and to keep up.

        Raises:
            LockedError: Another process uses the directory.
            StorageError: It is full or read-only; worth another try later.
            DamagedError: The journal has to be replaced by a backup.
        """
        share_heap()  # before there are threads
        try:
            async with contextlib.AsyncExitStack() as stack:
                await asyncio.to_thread(_prepare, directory)
                stack.callback(os.close, lock(directory))  # here, where nothing cancels it
                tombstones = await asyncio.to_thread(Tombstones.read, directory)
                journal = await open_journal(directory, now, tombstones, settings.shared_journal)
                stack.push_async_callback(journal.close)
                journal.takes_leases = model is not None  # learned without one it would be lost
                context = Context(
                    journal=journal,
                    settings=settings,
                    zone=zone,
                    now=now,
                    budget=TokenBudget(journal, zone, now, settings.daily_llm_tokens),
                    attendance=Attendance(await journal.presences()),
                    identities=await journal.read(Rows.identities),
                )
                service = cls(directory, context, tombstones, model)
                await service._start(stack)
                service._stack = stack.pop_all()
                return service
        except OSError as error:
            text = f"{directory} cannot be used: {error.strerror or error}; free some space"
            wrong = StorageError(f"{text} or make it writable")
            raise wrong.told("directory", path=directory) from error

    async def _start(self, stack: contextlib.AsyncExitStack) -> None:
        """Start every part; they are closed in the reverse order."""
        self.journal.listen(self._on_event, Change, Erased)
        self.recall.follow()
        self.journal.listen(self.graph.outdate, Change)
        await self.journal.begin()
        await self.instances.load()
        stack.push_async_callback(self._close_embedder)
        stack.push_async_callback(self.graph.close)
        await self.graph.start()
        stack.push_async_callback(self.spending.close)
        await self.spending.load()
        for part in (self.recall, self.learning, self.upkeep, self.backups, self.transfer):
            stack.push_async_callback(part.close)
            await part.start()
        stack.push_async_callback(self.journal.works.close)
        stack.push_async_callback(self.coordination.close)
        self.coordination.start()
        for idle in (self.forget_me, self.companion.proactive):
            stack.push_async_callback(idle.close)

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self.context.settings

    def _on_event(self, event: Change | Erased) -> None:
        if isinstance(event, Change):
            self.identities.follow(event)
            if gone := {(op.kind, op.id) for op in event.ops if op.row is None}:
                self.references.empty(lambda line: (line.kind, line.id) in gone)
        else:
            said = set(event.messages)
            self.references.empty(lambda line: line.kind == "message" and int(line.id) in said)

    def use_embedder(self, load: Callable[[], Awaitable[Embedder | None]]) -> None:
        """Load an embedder in the background, and again if that fails; then use it."""
        if self._closed:
            raise ClosedError("the memory is closed")
        if self._loading:
            self._loading.cancel()
        self._loading = Supervisor(
            "gm-embedder",
            lambda: self._load_embedder(load),
            logger,
            "no embedding, recall goes by words and names",
            retry=EMBEDDING_PAUSES,
        )
        self._loading.start()

    @property
    def is_loading(self) -> bool:
        """Whether there will be an embedder in a moment, and is none yet."""
        loading = self._loading
        return bool(loading and loading.is_running and not loading.problem and not self._embedder)

    async def _load_embedder(self, load: Callable[[], Awaitable[Embedder | None]]) -> None:
        try:
            loaded = await load()
        except Exception as error:  # whatever a provider's SDK raises
            self.problems["embedding"] = error.with_traceback(None)  # which holds what was read
            raise EmbeddingError(brief(error)) from error
        late = self.settings.recall_deadline / 1000 * EMBEDDING_SHARE
        previous = self._embedder
        self._embedder = CachedEmbedder(loaded, self.journal, late=late) if loaded else None
        self.problems.pop("embedding", None)
        self.recall.use(self._embedder)
        if previous:
            await previous.close()
        await asyncio.to_thread(trim_heap)  # the weights as they were read; 18 MB of a start

    async def _close_embedder(self) -> None:
        if self._loading:
            await self._loading.close()
        if self._embedder:
            await self._embedder.close()

    async def _unlink(self, user: str) -> None:
        """Take an account from its person's others, which stay one person's."""
        if len(self.identities.accounts(user)) > 1:
            await self.identity_edits.unlink(user, user)

    def retune(self, **values: float) -> None:
        """Forget by other settings from now on: by those of ``settings.TUNABLE``."""
        self.context.tune(**values)
        self.upkeep.look_again()

    async def access(self) -> Access:
        """Access to the memory page; without a key in the settings one is made once."""
        return await asyncio.to_thread(Access.open, self.directory, self.settings.webui_key)

    @staticmethod
    def declines(turn: Turn) -> int | None:
        """See :func:`.declined`; in a group it is asked of the bot, or of a quoted line."""
        quoted = turn.quote.user if turn.quote else ""
        is_asked = any(one.user == BOT for one in turn.to) or quoted in (turn.user, BOT)
        return declined(turn.text) if is_asked or not turn.session.is_group else None

    async def hear(self, turn: Turn) -> Message | None:
        """Store what a person said, but nothing that they ask not to keep."""
        if (which := self.declines(turn)) is None:
            return await self.learning.hear(turn)
        if which < 0 and self.learning.hears(turn.session, turn.user):
            await self.library.unsay(turn)
        return None

    async def health(self) -> Health:
        """How the memory is doing."""
        with contextlib.suppress(JournalError):
            await self.journal.probe()  # so that freed space shows at once
        views = (self.recall.problem, self.graph.problem, self.backups.problem)
        breakers = {"learning": self.learning.breaker}
        if self.recall.reranker:
            breakers["reranking"] = self.recall.rerank_breaker
        if self._embedder:
            breakers["embedding"] = self._embedder.breaker
        late = behind(*views, forgetting=self.forget_me.waiting)
        return Health(
            self.journal,
            self.recall,
            self.graph,
            counts=await self.journal.counts(),
            learning=await self.learning.status(),
            spending=self.spending.today(),
            upkeep_at=await self.upkeep.last_run(),
            embedder=self._embedder.name if self._embedder else "",
            is_loading=self.is_loading,
            bots=self.coordination.others,
            breakers=breakers,
            problems=[*self.problems.values(), *late],
        )

    async def doctor(self) -> Checkup:
        """Mend the journal as far as that goes and rebuild its views."""
        async with self._examining:
            work = partial(check_up, self.journal, self.graph, self.recall)
            return await self.journal.works.run("checkup", work)

    async def settle(self) -> None:
        """Wait until the embedder was tried, and index and graph, if asked, are current."""
        if self._loading:
            await self._loading.idle()
        await self.recall.settle()
        if self.graph.state is not GraphState.WAITING:
            await self.graph.settle()

    async def close(self) -> None:
        """Stop everything, what was started last first."""
        if self._closed:
            return
        self._closed = True
        if self._loading:
            self._loading.cancel()
        await self._stack.aclose()


def _prepare(directory: Path) -> None:
    """Make the directory, and close it to other accounts."""
    restrict(directory)
    copies.folder_of(directory).mkdir(mode=0o700, exist_ok=True)
