"""A language model whose answers were recorded: the same chat, the same answer.

What it is shown as known depends on the code, so numbers and labels in an answer are those of
the recording. They are put right by what they stand for; what is not shown any more cannot be
referred to. Chats without an answer are written to a folder, for a model to answer.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graph_memory.errors import ExtractionError
from graph_memory.inference import Answer, ToolSchema
from graph_memory.text import tokens

_ITEM = re.compile(r"(\d+)\. .*?: (.*)")
_NODE = re.compile(r"([UE]\d+) (.*)")
_LABEL = re.compile(r"[UE]\d+")
_REPLACES, _NUMBER = re.compile(r"[\s,，、]*>?\s*\d+|,"), re.compile(r"\d+")
_FACT_PARTS = 9
NEW = 100
"""Added to labels of what an answer adds, so that they are nobody else's."""


class Cassette:
    """Recorded answers of one world.

    Args:
        path: JSON lines, one for each answer.
        port: Folder in which a missing answer is asked for: ``NNN.prompt.txt`` appears,
            ``NNN.answer.txt``, the lines of an answer, is waited for and kept. Without a
            folder, missing is a failure.

    Attributes:
        missing: Chats without an answer.
        changed: How many were answered to another prompt, or with other things known.
        calls, tokens_in, tokens_out: What was asked so far.
    """

    def __init__(self, path: Path, port: Path | None = None) -> None:
        self._path = path
        self._port = port
        self._recorded: dict[str, dict[str, Any]] = {}
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self._recorded = {each["chat"]: each for each in map(json.loads, lines)}
        self.missing: list[str] = []
        self.calls = self.tokens_in = self.tokens_out = self.changed = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """The recorded answer; an error if there is none and nobody to ask."""
        schema = json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True) if tool else ""
        head, _, rest = prompt.partition("<known>\n")
        known, _, chat = rest.partition("</known>") if rest else ("", "", head)
        place, shown = _hash(chat), known.splitlines()
        if place not in self._recorded:
            self.missing.append(chat)
            if self._port is None:
                raise ExtractionError("not recorded")
            lines = await self._asked(f"{system}\n\n{schema}\n\n{prompt}")
            self._keep(place, _hash(system, schema, prompt), shown, lines)
        recorded = self._recorded[place]
        self.changed += recorded["prompt"] != _hash(system, schema, prompt)
        answer = {"lines": "\n".join(put_right(recorded["lines"], recorded["known"], shown))}
        self.calls += 1
        self.tokens_in += tokens(system) + tokens(schema) + tokens(prompt)
        self.tokens_out += tokens(answer["lines"])
        return Answer("", answer, 0, 0)

    async def _asked(self, text: str) -> list[str]:
        assert self._port
        number = len(self.missing)
        self._port.mkdir(parents=True, exist_ok=True)
        (self._port / f"{number:03}.prompt.txt").write_text(text, encoding="utf-8")
        found = self._port / f"{number:03}.answer.txt"
        while not found.exists():
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.2)
        return found.read_text(encoding="utf-8").splitlines()

    def _keep(self, place: str, prompt: str, known: list[str], lines: list[str]) -> None:
        made = {"chat": place, "prompt": prompt, "known": known, "lines": lines}
        self._recorded[place] = made
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(made, ensure_ascii=False) + "\n")


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def put_right(lines: Iterable[str], recorded: Iterable[str], shown: Iterable[str]) -> list[str]:
    """An answer to ``recorded`` as one to ``shown``; what refers to nothing there is left out."""
    was, now = _labels(recorded), {text: label for label, text in _labels(shown).items()}
    moved = {label: now.get(text, "") for label, text in was.items()}
    return [right for line in lines if (right := _right(line, moved)) is not None]


def _labels(known: Iterable[str]) -> dict[str, str]:
    """What the numbers and labels of known items stand for."""
    found = (_NODE.fullmatch(line) or _ITEM.fullmatch(line) for line in known)
    return {match[1]: match[2] for match in found if match}


def _right(line: str, moved: dict[str, str]) -> str | None:
    first, *rest = line.split("|")
    if first in ("restated", "ended", "used") and rest:
        number, colon, message = rest[0].partition(":")
        return f"{first}|{moved[number]}{colon}{message}" if moved.get(number) else None
    parts = [_label(first, moved), *rest]
    if len(parts) == _FACT_PARTS:
        parts[2] = _label(parts[2], moved)
        marks, numbers = _REPLACES.sub(" ", parts[6]).split(), _NUMBER.findall(parts[6])
        parts[6] = " ".join([*marks, *(f">{moved[n]}" for n in numbers if moved.get(n))])
    return "|".join(parts)


def _label(text: str, moved: dict[str, str]) -> str:
    if not _LABEL.fullmatch(text):
        return text
    if text in moved:
        return moved[text] or text
    return f"E{int(text[1:]) + NEW}" if text.startswith("E") else text
