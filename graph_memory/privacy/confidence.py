"""Requests to keep what was said between those who talk."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..text import patterns, simplified

_KEEP, _MAYBE, _ASIDE, _AHEAD = patterns(Path(__file__).with_suffix(".txt"))
_MORE = 5
"""Letters besides, from which a request says itself what is to be kept."""


@lru_cache(maxsize=256)
def asks_to_keep(text: str) -> bool:
    """Whether a message asks that something be told to nobody, or to somebody not."""
    plain = simplified(text)
    return _MAYBE.search(plain) is not None and _KEEP.search(plain) is not None


def reaches_back(text: str) -> bool:
    """Whether a request to keep something means what was said right before it."""
    return _is_bare(text) and not _AHEAD.search(simplified(text))


def announces(text: str) -> bool:
    """Whether a request to keep something means what is said right after it."""
    return _is_bare(text) and _AHEAD.search(simplified(text)) is not None


def _is_bare(text: str) -> bool:
    """Whether a text asks to keep something, and says little besides."""
    if not asks_to_keep(text):
        return False
    rest = _ASIDE.sub("", _AHEAD.sub("", _KEEP.sub("", simplified(text))))
    return sum(character.isalpha() for character in rest) < _MORE
