"""Requests to keep what was said between those who talk."""

from __future__ import annotations

from pathlib import Path

from ..text import patterns, remembered, simplified

_KEEP, _MAYBE, _ASIDE, _AHEAD, _NEWS = patterns(Path(__file__).with_suffix(".txt"))
_TO = " ", "to", "告诉"
"""How a request ends that says next whom it is not to be told to."""
_MORE = 5
"""Letters besides, from which a request says itself what is to be kept."""


@remembered(256)
def asks_to_keep(text: str) -> bool:
    """Whether a message asks that something be told to nobody, or to somebody not."""
    plain = simplified(text)
    return _MAYBE.search(plain) is not None and _KEEP.search(plain) is not None


def reach(text: str) -> int:
    """Which message a request to keep something means, besides itself.

    Returns:
        -1 for the one right before it, 1 for the one right after it, 0 for none.
    """
    if not asks_to_keep(text):
        return 0
    plain = simplified(text)
    rest = _AHEAD.sub("", _KEEP.sub(lambda found: "\0" * found[0].endswith(_TO), plain))
    rest = _ASIDE.sub("", rest)
    if sum(map(str.isalpha, rest)) >= _MORE or _NEWS.search(plain):
        return 0
    return 1 if _AHEAD.search(plain) else -1
