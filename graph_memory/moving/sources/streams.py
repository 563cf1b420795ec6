"""Reading a large JSON object member by member, and a large list in it item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from ...errors import FormatError

BLOCK = 1 << 18
"""Characters that are read at a time."""
MAX_VALUE = 16 << 20
"""Characters of one item, or of one member that is no list."""
_SPACE = " \t\r\n"
_NUMBER = "0123456789.eE+-"


class JsonReader:
    """Reads one object from a file whose lists may be larger than memory.

    ::

        for name in reader.members():
            if name == "messages":
                for item in reader.items(): ...
            else:
                value = reader.value()
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._decoder = json.JSONDecoder()
        self._is_over = False

    def members(self) -> Iterator[str]:
        """Names of the members; each has to be read before the next is asked for.

        Raises:
            FormatError: It is no object, or ends too early.
        """
        self._expect("{")
        if self._peek() == "}":
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise FormatError("a member has no name").told("no_json")
            self._expect(":")
            yield name
            if self._expect(",}") == "}":
                return

    def items(self) -> Iterator[Any]:
        """The items of the list that comes next."""
        self._expect("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self._expect(",]") == "]":
                return

    def value(self) -> Any:
        """The value that comes next, as a whole."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if not self._more():
                    raise FormatError(f"is no JSON: {error}").told("no_json") from None
                continue
            # A number may go on where the text that was read so far ends.
            if not self._text[end:].strip(_NUMBER) and self._more():
                continue
            self._at = end
            return value

    def _expect(self, signs: str) -> str:
        sign = self._peek()
        if sign not in signs or not sign:
            raise FormatError(f"is no JSON: {' or '.join(signs)} is missing").told("no_json")
        self._at += 1
        return sign

    def _peek(self) -> str:
        """The next sign that is no space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read on; what was dealt with is dropped."""
        if self._is_over:
            return False
        if len(self._text) - self._at > MAX_VALUE:
            raise FormatError(f"one item is longer than {MAX_VALUE >> 20} MiB")
        # As much again as there is: an item that is long is not begun anew too often.
        try:
            block = self._file.read(max(BLOCK, len(self._text) - self._at))
        except UnicodeDecodeError:
            raise FormatError("is no UTF-8").told("no_utf8") from None
        self._is_over = not block
        self._text = self._text[self._at :] + block
        self._at = 0
        return bool(block)
