"""What is hidden changes no answer: two histories that differ in nothing else give the same.

Whoever asks on any surface gets the same answers whichever version of a secret, a confidence,
or of what was taken back, forgotten or said in a pause there is; so nothing of it can be read
and no question can find it out. And no word stands under a speaker who never said it.
``GRAPH_MEMORY_TRIALS=2000`` searches longer.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from graph_memory.companion import transcripts
from graph_memory.learning import attribution
from graph_memory.learning.parse import Extraction
from graph_memory.learning.resolver import _Resolution
from graph_memory.library import conversations, edits
from graph_memory.model import Episode
from graph_memory.privacy.redaction import disclosed
from graph_memory.recall import documents
from graph_memory.recall.traces import Traces
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Rows
from graph_memory.store.pauses import Gaps
from graph_memory.transfer import export

from ..makers import Clock
from . import oracle
from .hidden import KINDS, Hide, Player, hides
from .histories import CHATS
from .owner_pages import OwnerPages
from .surfaces import Given, Surfaces, differences
from .test_broken import Bench, instead, notices
from .test_interference import QUICK, TRIALS
from .trial import Ask, Trial, opened, sum_up, trials

pytestmark = pytest.mark.slow

RESTORED = ("fact forgotten", "corrected and forgotten")
"""What a restore brings back."""


def run(
    trial: Trial, hidden: list[Hide], restores: bool, compare: Callable[..., Awaitable[None]]
) -> None:
    """Play both versions of a history and compare; raises ``AssertionError``."""
    askers = [(frozenset((ask.user,)), ask.chat.is_group) for ask in trial.asks]
    hidden = [
        hide
        for hide in hidden
        if not (restores and hide.kind in RESTORED)
        if not any(hide.is_known_to(accounts, is_group=there) for accounts, there in askers)
    ]
    asyncio.run(_run(trial, hidden, restores, compare))


async def _run(
    trial: Trial, hidden: list[Hide], restores: bool, compare: Callable[..., Awaitable[None]]
) -> None:
    hidden = list({hide.word: hide for hide in hidden}.values())
    assume(hidden)
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(0.0)
        async with contextlib.AsyncExitStack() as stack:
            memories = [
                await _played(stack, Path(folder) / version, trial, hidden, restores, clock)
                for version in "01"
            ]
            await compare(memories, trial, hidden)


async def _compare_askers(memories: list[MemoryService], trial: Trial, hidden: list[Hide]) -> None:
    for ask in _asks(trial, hidden):
        await _compare(memories, ask, hidden)


async def _compare_pages(memories: list[MemoryService], trial: Trial, _: list[Hide]) -> None:
    given = [await OwnerPages(memory).read(trial.asks[0]) for memory in memories]
    told = [_told(*each) for each in differences(*given)[:5]]
    assert not told, "for two versions of what is hidden\n" + "\n".join(told)


async def _played(
    stack: contextlib.AsyncExitStack,
    home: Path,
    trial: Trial,
    hidden: list[Hide],
    restores: bool,
    clock: Clock,
) -> MemoryService:
    """A memory with one version of a history, which may be restored from a backup."""
    home.mkdir()
    scene = opened(home, trial.rules, clock, walks=trial.walks)
    memory = await stack.enter_async_context(scene)
    player = Player(memory, clock, int(home.name), restores)
    clock.now = player.at
    await player.perform(trial.steps, hidden)
    clock.now = player.at + 86_400.0
    await sum_up(memory)
    backups = await memory.backups.list()
    if restores and backups:
        await memory.backups.restore(min(backups, key=lambda each: each.at).name)
        await memory.close()
        scene = opened(home, trial.rules, clock, walks=trial.walks)
        memory = await stack.enter_async_context(scene)
    player.leave_out(memory, *player.unlisted)
    return memory


def _asks(trial: Trial, hidden: list[Hide]) -> list[Ask]:
    """What is drawn, and who asks for what is hidden where it was said, or anywhere."""
    found = list(trial.asks)
    for hide in hidden[:2]:
        word, chat = hide.words(0)[0][-9:], CHATS[hide.chat]
        found += [replace(ask, text=word) for ask in trial.asks]
        found.append(replace(trial.asks[0], text=word, chat=chat, who=hide.sender))
    return found


async def _compare(memories: list[MemoryService], drawn: Ask, hidden: list[Hide]) -> None:
    records = [oracle.read(memory.directory / "journal.sqlite3") for memory in memories]
    accounts = [oracle.accounts_of(record, drawn.user) for record in records]
    assert accounts[0] == accounts[1]
    ask = replace(drawn, accounts=accounts[0])
    if any(hide.is_known_to(ask.accounts, is_group=ask.chat.is_group) for hide in hidden):
        return
    given = [await _given(memory, ask, hidden) for memory in memories]
    told = [_told(*each) for each in differences(*given)]
    assert not told, "for two versions of what is hidden\n" + "\n".join(told)


async def _given(memory: MemoryService, ask: Ask, hidden: list[Hide]) -> Given:
    """What an asker is given, and the owner, as far as everything hidden is gone for good."""
    side = Surfaces(memory, ask.caller)
    given: Given = {}
    if all(hide.kind in ("taken back", "forgotten") for hide in hidden):
        given["explain, before"] = await memory.recall.explain(ask.caller.asker)
        given["traces"] = [trace.query for trace in memory.recall.traces.recent()]
    return given | await side.read(ask.text, ask.previous) | await side.exported()


def _told(key: str, *given: Any) -> str:
    """Where two answers of a surface begin to differ."""
    one, other = map(repr, given)
    pairs = enumerate(zip(one, other, strict=False))
    at = next((place for place, (a, b) in pairs if a != b), 0)
    start = max(0, at - 200)
    return f"{key}:\n  {one[start : at + 200]}\n  {other[start : at + 200]}"


FROM_ALL = ("secret", "taken back", "paused", "unlisted", "forgotten")
"""What is kept from the owner as well."""


@settings(max_examples=int(TRIALS or 4), phases=list(Phase) if TRIALS else QUICK, deadline=None)
@given(trials, hides, st.booleans())
def test_what_nobody_may_read_is_on_no_page(trial, hidden, restores):
    kept = [replace(hide, kind=FROM_ALL[KINDS.index(hide.kind) % 4]) for hide in hidden]
    asyncio.run(_run(trial, kept, restores, _compare_pages))


@settings(max_examples=int(TRIALS or 10), phases=list(Phase) if TRIALS else QUICK, deadline=None)
@given(trials, hides, st.booleans())
def test_what_is_hidden_changes_no_answer(trial: Trial, hidden: list[Hide], restores: bool) -> None:
    run(trial, hidden, restores, _compare_askers)


def requests_are_not_heard(bench: Bench) -> None:
    """Nobody's wish to keep something is understood."""
    from graph_memory.privacy import confidence

    bench.everywhere(confidence.asks_to_keep, lambda _text: False)
    bench.everywhere(confidence.reach, lambda _text: 0)


def summaries_tell_all(bench: Bench) -> None:
    """Summaries are made of all that was said, in confidence too."""

    def summarise(self: _Resolution, extraction: Extraction) -> None:
        rows = self._visible.rows
        for id in self._known.episodes.values():
            if episode := rows.get(Episode, id):
                said = map(disclosed, rows.messages_of(episode))
                summary = "。".join(each.text for each in said)
                self.changes.put(replace(episode, summary=summary, confidential=False))

    bench.set(_Resolution, "summarise", summarise)


def citing_is_saying(bench: Bench) -> None:
    """Whoever is cited has said it."""

    def cited(_statement: str, subject: str, evidence: Any, *_: Any) -> str:
        return subject if evidence else ""

    bench.everywhere(attribution.speaker_of, cited)


def core_facts_stay(bench: Bench) -> None:
    """What rests on a forgotten message is kept."""

    def mute(rows: Any, draft: Any, session: str, messages: Any, corrected: Any = None) -> None:
        draft.put += edits.unsaid(rows, session, sorted(set(messages)))

    bench.everywhere(edits.mute, mute)


def as_said(room: object) -> Callable[[Bench], None]:
    return instead(room, "disclosed", lambda _: lambda message, *_: message)


LEAKS: dict[str, tuple[Callable[[Bench], None], str]] = {
    "what was said is exported as it was said": (as_said(export), "secret"),
    "messages are found by what is behind a mask": (as_said(documents), "secret"),
    "records show what was said as it was said": (as_said(transcripts), "secret"),
    "answers stand alone": (instead(Rows, "answered", lambda _: lambda *_: None), "confidence"),
    "what a correction replaced is kept when the correction is forgotten": (
        lambda bench: bench.everywhere(edits.with_earlier, lambda _, facts, _asker: facts),
        "corrected and forgotten",
    ),
    "imports know no pause": (instead(Gaps, "hold", lambda _: lambda *_: False), "paused"),
    "lists are not asked": (
        instead(Settings, "remembers", lambda _: lambda *_: True), "unlisted",
    ),
    "what recall was asked is kept": (
        instead(Traces, "erase", lambda _: lambda *_: False), "taken back",
    ),
    "the owner reads what was said as it was said": (as_said(conversations), ""),
    "requests_are_not_heard": (requests_are_not_heard, "confidence"),
    "summaries_tell_all": (summaries_tell_all, "confidence"),
    "citing_is_saying": (citing_is_saying, "taken back"),
    "core_facts_stay": (core_facts_stay, "fact forgotten"),
}  # fmt: skip
"""What is replaced, and with the kind of what is hidden in which it can show; nothing for what
only the owner's pages show. Breaks by which somebody takes along what is others' are in
``test_destruction.py``."""


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_noticed(name: str) -> None:
    broken, kind = LEAKS[name]
    compare = _compare_askers if kind else _compare_pages
    groups = [n for n, chat in enumerate(CHATS) if chat.is_group]

    def search(trial: Trial, hidden: list[Hide], restores: bool) -> None:
        focused = [
            replace(hide, kind=kind or "secret", echoes=True, chat=groups[hide.chat % len(groups)])
            for hide in hidden
        ]
        run(replace(trial, walks=False), focused, restores, compare)

    begin = 1 if kind == "paused" else 3  # as the break shows in the first few
    assert notices(broken, search, 60, trials, hides, st.booleans(), begin=begin)
