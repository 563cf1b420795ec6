"""The prompt of a batch, as scripted models read it (``learning/prompt.py`` writes it)."""

import re
from dataclasses import dataclass

_SAID = re.compile(
    r"^\[(\d+)\] (?:\d\d:\d\d )?(U\d+|BOT) ?([^:\n]*?)(?: / [^:\n]*)?: (.*)$", re.MULTILINE
)
_PERSON = re.compile(r"^(?:前文 |Before )?(U\d+) ([^:/\n]+?)(?: / [^:\n]*)?(?=:|$)", re.MULTILINE)
_THING = re.compile(r"^(E\d+) (.+?)(?: \(\w+\))?$", re.MULTILINE)
_KNOWN = re.compile(r"^(\d+)\. \d{4}-\d\d-\d\d (\w+) (\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """What a person said: its number, and the label and name of who said it."""

    number: int
    label: str
    name: str
    text: str


@dataclass(frozen=True)
class Known:
    """A fact that is known already."""

    number: int
    subject: str
    predicate: str
    statement: str


class Shown:
    """What a batch's prompt shows.

    Attributes:
        lines: What people said.
        people: Names by label.
        things: Names by label.
        known: What is known already.
    """

    def __init__(self, prompt: str) -> None:
        known, _, chat = prompt.rpartition("<chat>")
        said = _SAID.findall(chat)
        self.people = dict(_PERSON.findall(prompt))
        self.people |= {label: name for _, label, name, _ in said if name and label != "BOT"}
        self.lines = [
            Line(int(number), label, self.people.get(label, ""), text)
            for number, label, _, text in said
            if label != "BOT"
        ]
        self.things = {label: names.split(" / ") for label, names in _THING.findall(known)}
        self.known = [Known(int(number), *rest) for number, *rest in _KNOWN.findall(known)]
