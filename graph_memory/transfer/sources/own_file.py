"""Source: a memory that this plugin exported (``file_format.py``)."""

from __future__ import annotations

from pathlib import Path

from ...errors import FormatError
from .. import file_format
from .source import Options, Pieces


def read_own_file(path: Path, _options: Options) -> Pieces:
    """All pieces of the file.

    Raises:
        FormatError: Something is not as it could have been written, and where.
    """
    number, ended = 0, False
    with path.open("rb") as file:
        for number, text in enumerate(file_format.lines_of(file), 1):
            data = file_format.parse(text, number)
            if ended:
                raise FormatError("follows the end", number)
            if number == 1:
                _check_header(data)
            elif data.get("kind") == "end":
                if data.get("lines") != number - 1:
                    raise FormatError("is not how many lines there are", number, "lines")
                ended = True
            else:
                yield file_format.unpack(data, number)
    if not ended:
        error = FormatError("the file is cut off: its last line is missing", number)
        raise error.told("cut_off")


def _check_header(data: file_format.Data) -> None:
    if data.get("kind") != "header" or data.get("format") != file_format.FORMAT:
        raise FormatError("this is no memory that was exported", 1, "format").told("alien")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError("is no version", 1, "version")
    if version > file_format.VERSION:
        raise FormatError("is of a newer version; update the plugin", 1, "version").told("newer")
