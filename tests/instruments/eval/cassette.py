"""A language model whose answers were recorded: the same prompt, the same answer.

An answer belongs to the very text of a prompt, so one that was recorded for another prompt
is never given. What has no answer is written to a folder, for a model to answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

from graph_memory.errors import ExtractionError
from graph_memory.ports import Answer, ToolSchema
from graph_memory.text import tokens


class Cassette:
    """Recorded answers of one world.

    Args:
        path: JSON lines, one for each answer.
        port: Folder in which a missing answer is asked for: ``NNN.prompt.txt`` appears,
            ``NNN.answer.txt``, the lines of an answer, is waited for and kept. Without a
            folder, missing is a failure.

    Attributes:
        missing: Prompts without an answer.
        calls, tokens_in, tokens_out: What was asked so far.
    """

    def __init__(self, path: Path, port: Path | None = None) -> None:
        self._path = path
        self._port = port
        self._known: dict[str, Any] = {}
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self._known = {each["key"]: each["answer"] for each in map(json.loads, lines)}
        self._used: dict[str, Any] = {}
        self.missing: list[str] = []
        self.calls = self.tokens_in = self.tokens_out = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """The recorded answer.

        Raises:
            ExtractionError: There is none, and nobody to ask.
        """
        schema = json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True) if tool else ""
        key = hashlib.sha256("\0".join((system, schema, prompt)).encode()).hexdigest()[:16]
        if key not in self._known:
            self.missing.append(prompt)
            if self._port is None:
                raise ExtractionError("not recorded")
            self._known[key] = await self._asked(key, system, schema, prompt)
        answer = self._used[key] = self._known[key]
        self.calls += 1
        self.tokens_in += tokens(system) + tokens(schema) + tokens(prompt)
        text = json.dumps(answer, ensure_ascii=False)
        self.tokens_out += tokens(text)
        return Answer("", answer, 0, 0) if isinstance(answer, dict) else Answer(text, None, 0, 0)

    async def _asked(self, key: str, system: str, schema: str, prompt: str) -> Any:
        assert self._port
        text = f"{system}\n\n{schema}\n\n{prompt}"
        number = len(self.missing)
        self._port.mkdir(parents=True, exist_ok=True)
        (self._port / f"{number:03}.prompt.txt").write_text(text, encoding="utf-8")
        found = self._port / f"{number:03}.answer.txt"
        while not found.exists():
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.2)
        answer = {"lines": found.read_text(encoding="utf-8")}
        # With what was known, to which its numbers and labels refer.
        known = prompt.partition("<known>\n")[2].partition("</known>")[0].splitlines()
        recorded = {"key": key, "answer": answer, "known": known}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(recorded, ensure_ascii=False) + "\n")
        return answer
