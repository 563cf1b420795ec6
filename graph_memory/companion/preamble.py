"""Preamble of a reply: what is read of a Session, and the lines that tell of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from ..locales import say
from ..model import Episode, Message
from ..retention import DAY
from ..store import Rows, queries
from ..text import fenced, tokens
from .core_facts import MAX_TEXT, CoreFact, standing
from .inner_state import Feeling, InnerState, Mood, decayed, inner_id, mood_id, mood_name
from .transcripts import newest_records

RECORDS = 4
"""Recent summaries that are shown."""
RECORDS_BUDGET = 160
"""Tokens that they may cost."""
MAX_SUMMARY = 80
EPISODES = 8
"""Summaries that are read: some may not be shown."""
_MINUTE, _HOUR = 60.0, 3_600.0
SPANS = (1, 7, 30)
"""Days for which it is said on how many somebody talked."""

Cite = Callable[[Episode], str]
"""Gives a record that is shown its short id."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What goes before what is recalled.

    Attributes:
        has_profile: Whether core facts take the place of the speaker's profile.
    """

    lines: list[str] = field(default_factory=list)
    has_profile: bool = False


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the companion knows of a Session when a reply is asked for.

    Attributes:
        past: Told episodes before the present record, newest first.
        before: When something was said last before that record; ``None`` if nothing was.
        days: Local days (ordinals) on which the speaker talked lately.
        is_opening: Whether nothing has been answered in the present record.
    """

    core: list[CoreFact]
    mood: Mood | None
    inner: InnerState | None
    past: list[Episode]
    before: float | None
    days: set[int]
    is_opening: bool


def read(
    db: sqlite3.Connection,
    session: str,
    users: Collection[str],
    message: Message | None,
    now: float,
    zone: tzinfo,
) -> SessionState:
    """Read what is known of a Session.

    Args:
        users: The accounts of who speaks.
        message: What they said, if it was stored.
    """
    rows = Rows(db)
    records = newest_records(db, session, 2, zone)
    first = records[0].first_message if records else 0
    told = queries.newest_episodes(db, session, EPISODES, told=True)
    days, is_opening = set(), False
    if message is not None and message.id >= first > 0:
        said = queries.between(db, session, first, message.id, message.id)
        opening = next((each.id for each in said if each.is_human), message.id)
        is_opening = all(each.is_human for each in said if each.id > opening)
        visits = queries.visits(db, session, now - (SPANS[-1] + 1) * DAY)
        visits += [(each.started_at, list(each.participants)) for each in records]
        days = {_day(at, zone) for at, people in visits if message.sender in people}
    return SessionState(
        standing(rows, session, users),
        rows.get(Mood, mood_id(session)),
        rows.get(InnerState, inner_id(session)),
        [each for each in told if each.last_message < first],
        records[1].ended_at if len(records) > 1 else None,
        days,
        is_opening,
    )


def _day(at: float, zone: tzinfo) -> int:
    return datetime.fromtimestamp(at, zone).toordinal()


def occasion(state: SessionState, at: float, zone: tzinfo, language: str) -> str:
    """When it is, how long ago the last talk was, and how often the user talks."""
    local = datetime.fromtimestamp(at, zone)
    today = _day(at, zone)
    counts = [sum(today - span < each <= today for each in state.days) for span in SPANS]
    ago = (
        say(language, "lead_first")
        if state.before is None
        else say(language, "lead_last", ago=elapsed(at - state.before, language))
    )
    weekday = say(language, "weekdays").split()[local.weekday()]
    return say(
        language,
        "lead_occasion",
        when=f"{local:%Y-%m-%d} {weekday} {local:%H:%M}",
        ago=ago,
        **dict(zip(("one", "seven", "thirty"), counts, strict=True)),
    )


def elapsed(seconds: float, language: str) -> str:
    """A stretch of time, about."""
    minutes = round(seconds / _MINUTE)
    if minutes < 2:
        return say(language, "ago_now")
    if seconds < _HOUR:
        return say(language, "ago_minutes", count=minutes)
    hours = round(seconds / _HOUR)
    if hours < 48:
        return say(language, "ago_hours", count=hours)
    return say(language, "ago_days", count=round(hours / 24))


def mood(row: Mood, at: float, language: str) -> str:
    """How the persona feels by now."""
    feeling = decayed(Feeling(row.valence, row.arousal), at - row.at)
    return say(language, "lead_mood", mood=say(language, f"mood_{mood_name(feeling)}"))


def core(rows: Sequence[CoreFact], language: str) -> list[str]:
    """The core facts about who speaks, under a heading."""
    if not rows:
        return []
    lines = [
        say(
            language,
            "lead_core_line",
            number=row.number,
            kind=say(language, f"core_{row.type}"),
            text=fenced(row.text, MAX_TEXT),
        )
        for row in rows
    ]
    return [say(language, "lead_core"), *lines]


def records(
    episodes: Sequence[Episode], cite: Cite | None, zone: tzinfo, language: str
) -> list[str]:
    """The newest of some records, the oldest of them first, under a heading.

    Args:
        episodes: Newest first.
        cite: ``None`` if the model has nothing to open them with.
    """
    lines: list[str] = []
    left = RECORDS_BUDGET
    for episode in episodes[:RECORDS]:
        began = datetime.fromtimestamp(episode.started_at, zone)
        line = f"{began:%Y-%m-%d %H:%M} {fenced(episode.summary, MAX_SUMMARY)}"
        left -= tokens(line) + (8 if cite else 0)
        if left < 0:
            break
        lines.append(f"- [{cite(episode)}] {line}" if cite else f"- {line}")
    if not lines:
        return []
    heading = "lead_records_cited" if cite else "lead_records"
    return [say(language, heading), *reversed(lines)]
