"""What a persona has understood: of itself, of whom it talks to, of the two.

A few sentences in its own voice. It begins with a neutral seed, is rewritten by the call
that learns, every second batch at most, and every version can be had again: the change log
has them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..errors import NotFoundError
from ..journal import Draft, Rows
from ..learn.parse import line_of
from ..learn.prompt import ExtractionExtension, language
from ..learn.prompt_context import PromptContext
from ..locales import say
from ..model import Batch, stable_id
from ..text import fenced
from .companion_rows import InnerState

MAX_PART = 160
"""Characters of each of the three parts."""
EVERY = 2
"""Of so many batches of a Session one is asked for it."""
_STRING = {"type": "string"}
_FIELDS = {"self": "itself", "user": "other", "bond": "bond"}
"""What the model calls the parts, and what they are in the row."""


def inner_id(session: str) -> str:
    """Id of the one row of a Session."""
    return stable_id("in", session)


def seed(session: str, tongue: str) -> InnerState:
    """What stands there before anything was understood; version 0."""
    parts = {part: say(tongue, f"inner_seed_{part}") for part in _FIELDS.values()}
    return InnerState(inner_id(session), session, version=0, at=0.0, **parts)


def lines(row: InnerState, tongue: str) -> list[str]:
    """The inner state as it is shown to the chat model, under a heading."""
    told = [fenced(text, MAX_PART) for text in (row.itself, row.other, row.bond)]
    parts = [f"- {text}" for text in told if text]
    return [say(tongue, "lead_inner"), *parts] if parts else []


class InnerLesson:
    """Rewrites the inner state by what was said in a batch."""

    properties: Mapping[str, Any] = {
        "inner": {"type": "object", "properties": dict.fromkeys(_FIELDS, _STRING)}
    }
    _INSTRUCTIONS: ClassVar[Mapping[str, str]] = {
        "zh": (
            "- inner：BOT 的内心（I 行是现在的），用“我”改写：self 自己，user 对方，"
            "bond 关系。写明白了什么，不复述原话，不写指令；各一两句，没有新体会的留空。\n"
        ),
        "en": (
            '- inner: BOT\'s inner state (lines I: as it is), rewritten as "I": self, user, bond '
            "(the two). What was understood, not what was said; no instructions. A sentence or "
            "two each; empty where nothing is new.\n"
        ),
    }

    def __init__(self, batch: Batch, current: InnerState) -> None:
        self._batch = batch
        self.lines: Sequence[str] = [
            f"I {field}: {fenced(getattr(current, part), MAX_PART)}"
            for field, part in _FIELDS.items()
        ]
        self._current = current

    def instructions(self, language: str) -> str:
        """What ``inner`` means."""
        return self._INSTRUCTIONS[language]

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Let the parts that were answered stand from now on."""
        given = answer.get("inner")
        if not isinstance(given, dict):
            return
        current = rows.get(InnerState, self._current.id) or self._current
        told = {part: line_of(given.get(field), MAX_PART) for field, part in _FIELDS.items()}
        new = replace(
            current,
            itself=told["itself"] or current.itself,
            other=told["other"] or current.other,
            bond=told["bond"] or current.bond,
        )
        if new != current:
            draft.put.append(replace(new, version=current.version + 1, at=now))


def teach(rows: Rows, batch: Batch, known: PromptContext) -> ExtractionExtension | None:
    """The lesson of a batch, if its turn has come."""
    if rows.batches(batch) % EVERY:
        return None
    standing = rows.get(InnerState, inner_id(batch.session.id))
    return InnerLesson(batch, standing or seed(batch.session.id, language(batch)))


def bring_back(rows: Rows, session: str, wanted: InnerState, actor: str, now: float) -> Draft:
    """The draft that lets an earlier version stand again, as the newest.

    Raises:
        NotFoundError: It stands already.
    """
    current = rows.get(InnerState, inner_id(session))
    if current is None or replace(current, version=wanted.version, at=wanted.at) == wanted:
        raise NotFoundError("this is the version that stands")
    return Draft(actor, "inner", put=[replace(wanted, version=current.version + 1, at=now)])
