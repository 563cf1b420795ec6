"""Preamble of a reply: the lines before what is recalled, safe as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from ..locales import say
from ..model import Episode
from ..text import fenced, tokens
from .core_facts import MAX_TEXT, CoreFact
from .inner_state import Feeling, Mood, decayed, mood_name
from .session_cache import DAYS, SessionState, day

RECORDS = 4
"""Recent summaries that are shown."""
RECORDS_BUDGET = 160
"""Tokens that they may cost."""
MAX_SUMMARY = 80
_MINUTE, _HOUR = 60.0, 3_600.0
SPANS = (1, 7, DAYS)
"""Days for which it is said on how many somebody talked."""

Cite = Callable[[Episode], str]
"""Gives a record that is shown its short id."""


def occasion(state: SessionState, user: str, at: float, zone: tzinfo, language: str) -> str:
    """When it is, how long ago the last talk was, and how often the user talks."""
    local = datetime.fromtimestamp(at, zone)
    days, today = state.days.get(user, set()), day(at, zone)
    counts = [sum(1 for each in days if today - span < each <= today) for span in SPANS]
    ago = (
        say(language, "lead_first")
        if state.before is None
        else say(language, "lead_last", ago=elapsed(at - state.before, language))
    )
    weekday = say(language, "weekdays").split()[local.weekday()]
    shown = dict(zip(("one", "seven", "thirty"), counts, strict=True))
    return say(
        language,
        "lead_occasion",
        when=f"{local:%Y-%m-%d} {weekday} {local:%H:%M}",
        ago=ago,
        **shown,
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
