"""Disclosure of texts: which words of a message or row may be read, and by whom.

Whether it is shown at all is for ``scope.py``. Only messages are kept as they were said; the
words of rows are masked before they are written.
"""

from __future__ import annotations

from dataclasses import replace

from .model import Asker, Data, Message, kind_named
from .redaction import redacted


def disclosed(message: Message, asker: Asker | None = None) -> Message:
    """A message as ``asker`` may read it; its secrets are for its sender, in private.

    By default it is as everybody may read it, models included.
    """
    if asker and not asker.is_group and message.sender in asker.accounts:
        return message
    text = redacted(message.text)
    return message if text == message.text else replace(message, text=text)


def masked(kind: str, data: Data) -> Data:
    """A row's data without secrets."""
    cls = kind_named(kind)
    words = {field: redacted(data[field]) for field in cls.words if data.get(field)} if cls else {}
    return {**data, **words}
