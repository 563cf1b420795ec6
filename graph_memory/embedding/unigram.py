"""Unigram tokenizer: cuts a text into the likeliest pieces of a vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

SPACE = "▁"
"""What a vocabulary has for a space."""
UNKNOWN_COSTS = 10.0
"""By how much a character that is in no piece is less likely than the unlikeliest piece."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SLICE = 8_192
"""Pieces that are hashed in one go: what is needed meanwhile stays small."""

_Hashes = NDArray[np.uint64]


class Unigram:
    """A tokenizer that knows its pieces by their hashes: 4 MB for 250,000 of them.

    Args:
        text: The pieces, one after the other, in UTF-8.
        starts: Where each begins in it, and the end of the last.
        scores: Logarithms of their probabilities.
        replaced: What characters are replaced by beforehand.
        unknown: The piece for a character that is in no other.
    """

    def __init__(
        self,
        text: bytes,
        starts: NDArray[np.uint32],
        scores: NDArray[np.float32],
        replaced: Mapping[int, str],
        unknown: int,
    ) -> None:
        slices = [starts[at : at + _SLICE + 1] for at in range(0, len(scores), _SLICE)]
        hashed = [_hashes_of(text[some[0] : some[-1]], some - some[0]) for some in slices]
        hashes = np.concatenate([rows for rows, _ in hashed])
        hashes[unknown] = 0
        order = np.argsort(hashes).astype(np.int32)
        self._pieces = order[hashes[order] > 0]  # an empty piece is in no text
        self._hashes = hashes[self._pieces]
        self._longest = max(longest for _, longest in hashed)
        self._scores, self._replaced, self._unknown = scores, replaced, unknown
        self._unknown_score = float(scores.min()) - UNKNOWN_COSTS

    def pieces(self, text: str) -> list[int]:
        """The pieces ``text`` is made of whose scores have the greatest sum."""
        single = re.sub(" +", " ", text.translate(self._replaced)).replace(" ", SPACE)
        found = self._found(single if single.startswith(SPACE) else SPACE + single)
        best = [0.0] + [-np.inf] * len(found)
        last = [(0, self._unknown)] * len(best)
        for start, fitting in enumerate(found):
            for end, piece, score in [*fitting, (start + 1, self._unknown, self._unknown_score)]:
                if (whole := best[start] + score) > best[end]:
                    best[end], last[end] = whole, (start, piece)
        pieces, end = [], len(found)
        while end:
            end, piece = last[end]
            pieces.append(piece)
        return pieces[::-1]

    def _found(self, text: str) -> list[list[tuple[int, int, float]]]:
        """For each character the pieces that begin there: end, number, score."""
        characters = _characters(text)
        found: list[list[tuple[int, int, float]]] = [[] for _ in characters]
        hashes = np.zeros_like(characters)
        for length in range(1, min(self._longest, len(characters)) + 1):
            starts = len(characters) - length + 1
            hashes = hashes[:starts] * _BASE + characters[length - 1 :]
            at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
            fits = np.flatnonzero(self._hashes[at] == hashes)
            pieces = self._pieces[at[fits]]
            scores = self._scores[pieces].tolist()
            for start, piece, score in zip(fits.tolist(), pieces.tolist(), scores, strict=True):
                found[start].append((start + length, piece, score))
        return found


def _characters(text: str) -> _Hashes:
    """Code points, plus one: none is 0."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64) + np.uint64(1)


def _hashes_of(text: bytes, starts: NDArray[np.uint32]) -> tuple[_Hashes, int]:
    """A hash of each piece, and how many characters the longest has."""
    begins = (np.frombuffer(text, np.uint8) & 0xC0) != 0x80  # characters, in UTF-8
    at = np.concatenate([[0], np.cumsum(begins)])[starts]
    characters, lengths = _characters(text.decode()), np.diff(at)
    hashes = np.zeros(len(lengths), np.uint64)
    for place in range(lengths.max()):
        longer = np.flatnonzero(lengths > place)
        hashes[longer] = hashes[longer] * _BASE + characters[at[longer] + place]
    return hashes, int(lengths.max())
