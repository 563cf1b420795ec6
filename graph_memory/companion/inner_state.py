"""Inner state of a persona: its mood, and what it has understood in its own words.

A feeling fades towards the baseline: ``baseline + (last − baseline) · exp(−k·Δt)``. The
inner state begins with a neutral seed and is rewritten by the call that learns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import NotFoundError
from ..learning.parse import finite, sentence_of
from ..learning.prompt import ExtractionExtension, PromptContext, language
from ..locales import in_all, say
from ..model import Basis, Batch, SessionRow, stable_id
from ..store import Draft, Rows
from ..text import fenced

HALF_LIFE = 6 * 3_600.0
"""Seconds in which half of a feeling is gone."""
STEP = 0.3
"""How far one batch of messages can move either side."""
_STRONG = 0.3
"""From here on a side is more than neutral."""
MAX_PART = 160
"""Characters of each of the three parts."""
BASELINE = (0.2, 0.0)
"""Valence and arousal of who is friendly and at ease."""
EVERY = 2
"""One of so many batches of a Session is asked for it."""
_STRING = {"type": "string"}
_FIELDS = {"self": "itself", "user": "other", "bond": "bond"}
"""What the model calls the parts, and what they are in the row."""
_NUMBER = {"type": "number"}


@dataclass(frozen=True, slots=True)
class Mood(SessionRow, kind="mood", times=("at",), basis=Basis.LEARNED):
    """How a persona felt ``at`` a time in a Session.

    ``valence`` is from unhappy, −1, to happy, +1; ``arousal`` from calm to excited.
    """

    valence: float
    arousal: float
    at: float

    def later(self, at: float) -> Mood:
        """What is left of it at a time; never before it."""
        left = math.exp(-math.log(2) / HALF_LIFE * max(0.0, at - self.at))
        valence, arousal = (
            _bounded(base + (side - base) * left)
            for base, side in zip(BASELINE, (self.valence, self.arousal), strict=True)
        )
        return replace(self, valence=valence, arousal=arousal, at=max(at, self.at))

    def moved(self, valence: float, arousal: float) -> Mood:
        """As it is after something moved it, by :data:`STEP` at most on either side."""
        return replace(
            self,
            valence=_bounded(self.valence + max(-STEP, min(STEP, valence))),
            arousal=_bounded(self.arousal + max(-STEP, min(STEP, arousal))),
        )

    @property
    def name(self) -> str:
        """One of nine, such as ``low_even``, valence first."""
        sides = (self.valence, self.arousal)
        return "_".join(
            "low" if s <= -_STRONG else "high" if s >= _STRONG else "even" for s in sides
        )


@dataclass(frozen=True, slots=True)
class InnerState(
    SessionRow,
    kind="inner_state",
    times=("at",),
    words=("itself", "other", "bond"),
    basis=Basis.LEARNED,
):
    """What a persona understood of itself, the other and their bond in a Session.

    ``version`` counts how often it was written, from 1.
    """

    itself: str
    other: str
    bond: str
    version: int
    at: float

    @property
    def told(self) -> dict[str, str]:
        """The parts that say something, by their names."""
        return {part: text for part in self.words if (text := getattr(self, part))}

    def brought_back(self, standing: InnerState, at: float) -> InnerState:
        """As a new version, so that an undo cannot bring back one in between."""
        return replace(self, version=standing.version + 1, at=at)


def _bounded(side: float) -> float:
    return max(-1.0, min(1.0, side))


def mood_id(session: str) -> str:
    """Id of the one row of a Session that says how its persona feels."""
    return stable_id("mo", session)


class MoodExtension:
    """Moves the persona's mood by what was said in a batch."""

    properties: ClassVar[Mapping[str, Any]] = {
        "mood": {"type": "object", "properties": {"valence": _NUMBER, "arousal": _NUMBER}}
    }
    lines: ClassVar[Sequence[str]] = ()
    instructions: ClassVar[Mapping[str, str]] = in_all("teach_mood")

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Move what is left of the last mood."""
        given = answer.get("mood")
        if not isinstance(given, dict):
            return
        steps = [finite(given.get(side), 0.0) for side in ("valence", "arousal")]
        session, at = self._batch.session.id, self._batch.messages[-1].at
        id = mood_id(session)
        last = rows.get(Mood, id) or Mood(id, session, *BASELINE, at)
        draft.put.append(last.later(at).moved(*steps))


def inner_id(session: str) -> str:
    """Id of the one row of a Session."""
    return stable_id("in", session)


def seed(session: str, tongue: str) -> InnerState:
    """The neutral inner state of a Session; version 0."""
    parts = {part: say(tongue, f"inner_seed_{part}") for part in _FIELDS.values()}
    return InnerState(inner_id(session), session, version=0, at=0.0, **parts)


def lines(row: InnerState, tongue: str) -> list[str]:
    """The inner state as it is shown to the chat model, under a heading."""
    parts = [f"- {fenced(text, MAX_PART)}" for text in row.told.values()]
    return [say(tongue, "lead_inner"), *parts] if parts else []


class InnerStateExtension:
    """Rewrites the inner state by what was said in a batch."""

    properties: Mapping[str, Any] = {
        "inner": {"type": "object", "properties": dict.fromkeys(_FIELDS, _STRING)}
    }
    instructions: ClassVar[Mapping[str, str]] = in_all("teach_inner")

    def __init__(self, batch: Batch, current: InnerState) -> None:
        self._batch = batch
        self.lines: Sequence[str] = [
            f"I {field}: {fenced(getattr(current, part), MAX_PART)}"
            for field, part in _FIELDS.items()
        ]
        self._current = current

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Replace the parts that were answered."""
        given = answer.get("inner")
        if not isinstance(given, dict):
            return
        current = rows.get(InnerState, self._current.id) or self._current
        told: dict[str, Any] = {
            part: sentence_of(given.get(field), MAX_PART) for field, part in _FIELDS.items()
        }
        new = replace(current, **{part: text for part, text in told.items() if text})
        if new != current:
            draft.put.append(replace(new, version=current.version + 1, at=now))


def teach(rows: Rows, batch: Batch, known: PromptContext) -> ExtractionExtension | None:
    """The extension for a batch, if its turn has come."""
    if rows.batches(batch) % EVERY:
        return None
    standing = rows.get(InnerState, inner_id(batch.session.id))
    return InnerStateExtension(batch, standing or seed(batch.session.id, language(batch)))


def bring_back(rows: Rows, session: str, wanted: InnerState, actor: str, now: float) -> Draft:
    """The draft that brings back an earlier version; ``NotFoundError`` if it stands."""
    current = rows.get(InnerState, inner_id(session))
    if current is None or replace(current, version=wanted.version, at=wanted.at) == wanted:
        raise NotFoundError("this is the version that stands")
    return Draft(actor, "inner", put=[wanted.brought_back(current, now)])
