"""This plugin's own files, see ``format.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ...errors import FormatError
from ...journal.contents import Claim
from ...model import Message, Presence, Row
from .. import format as own
from ..history import History
from ..stage import Stage
from .base import Options, Stop

_PAGE = 500


class OwnFile:
    """A memory that was exported."""

    format = "memory"

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, stage: Stage, history: History, options: Options, stop: Stop) -> None:
        """Stage everything; messages keep their numbers.

        Raises:
            FormatError: Something is not as it could have been written, and where.
            ClosedError: ``stop`` was set.
        """
        rows: dict[tuple[str, str], Row] = {}
        with self.path.open("rb") as file:
            for number, piece in _pieces(file):
                if number % _PAGE == 0:
                    stop.look()
                try:
                    self._enter(stage, piece, rows, number)
                except FormatError as error:
                    again = FormatError(error.reason, error.line or number, error.field)
                    raise again.told(error.code, **error.values) from None
        stage.put(rows.values())
        stage.check()

    def _enter(
        self, stage: Stage, piece: own.Piece, rows: dict[tuple[str, str], Row], number: int
    ) -> None:
        match piece:
            case Message():
                stage.add(piece)
            case Claim():
                stage.claim(piece)
            case Presence():
                stage.attend(piece)
            case tuple():
                stage.pause(piece)
            case row:
                if (row.kind, row.id) in rows or stage.has(row.kind, row.id):
                    raise FormatError(f"{row.kind} {row.id[:80]} is there twice", number, "id")
                rows[row.kind, row.id] = row
                if len(rows) >= _PAGE:
                    stage.put(rows.values())
                    rows.clear()


def _pieces(file: BinaryIO) -> Iterator[tuple[int, own.Piece]]:
    number = 0
    ended = False
    for number, text in enumerate(lines_of(file), 1):
        data = own.parse(text, number)
        if ended:
            raise FormatError("follows the end", number)
        if number == 1:
            _check_header(data)
        elif data.get("kind") == "end":
            if data.get("lines") != number - 1:
                raise FormatError("is not how many lines there are", number, "lines")
            ended = True
        else:
            yield number, own.unpack(data, number)
    if not ended:
        raise FormatError("the file is cut off: its last line is missing", number).told("cut_off")


def _check_header(data: own.Data) -> None:
    if data.get("kind") != "header" or data.get("format") != own.FORMAT:
        raise FormatError("this is no memory that was exported", 1, "format").told("alien")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError("is no version", 1, "version")
    if version > own.VERSION:
        raise FormatError("is of a newer version; update the plugin", 1, "version").told("newer")


def lines_of(file: BinaryIO) -> Iterator[str]:
    """The lines of a file.

    Raises:
        FormatError: One is too long or no UTF-8.
    """
    number = 0
    while block := file.readline(own.MAX_LINE + 1):
        number += 1
        if len(block) > own.MAX_LINE:
            raise FormatError(f"is longer than {own.MAX_LINE} bytes", number)
        try:
            yield block.decode("utf-8")
        except UnicodeDecodeError:
            raise FormatError("is no UTF-8", number).told("no_utf8") from None
