"""Every command answers in the language that is set, whether it goes well or not."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.offline_commands import BackupCommands
from graph_memory.commands.usage import help_text, unknown
from graph_memory.errors import (
    DamagedError,
    FormatError,
    GraphMemoryError,
    JournalError,
    LockedError,
    SettingError,
    StorageError,
)
from graph_memory.locales import TEXTS, explain, say
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.settings import PARTS, Settings, read

from ..makers import T0, group, private, user
from ..world import opened
from . import call

ME = Turn(private("1"), user("1"), "7")
OWNER = Turn(private("9"), user("9"), "9", is_admin=True)
ROOM = replace(group("5"), title="5")
IN_GROUP = replace(ME, session=ROOM)
EVERYTHING = Path(__file__).with_name("everything.txt").read_text("utf-8").splitlines()

ALLOWED = re.compile(
    "|".join(
        line
        for line in Path(__file__).with_name("allowed.txt").read_text("utf-8").splitlines()
        if not line.startswith("# ")
    )
)
"""Names and what was typed, which are the same in every language."""
FOR_MODELS = (
    "control_", "care_", "lead_", "summary_", "teach_", "tool_", "search_history", "open_record",
)  # fmt: skip
CHINESE = re.compile(r"[\u3000-\u3013\u3016-\u303f\u4e00-\u9fff\uff00-\uffef]+")
LATIN = re.compile(r"[A-Za-z]{2,}")


def foreign(language: str, text: str) -> list[str]:
    """What of an answer is in another language."""
    left = ALLOWED.sub("", text)
    return CHINESE.findall(left) if language == "en" else LATIN.findall(left)


@pytest.fixture(params=["zh", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def memory(tmp_path: Path, language: str) -> AsyncIterator[MemoryService]:
    settings = replace(Settings(), companion=PARTS, language=language)
    async with opened(tmp_path, settings, now=lambda: T0) as memory:
        for caller in (ME, IN_GROUP):
            text = "我在学大提琴" if language == "zh" else "I learn the cello"
            await memory.learning.hear(Turn(caller.session, caller.user, caller.name, text), at=T0)
        yield memory


async def everything(memory: MemoryService, language: str) -> list[str]:
    """What all commands answer, one after the other."""
    commands = Commands(memory)
    word = "大提琴" if language == "zh" else "cello"
    found: list[str] = []
    for caller in (ME, IN_GROUP, OWNER, replace(OWNER, session=ROOM)):
        for line in EVERYTHING:
            name, _, words = line.replace("$word", word).partition(" ")
            if name == "asked":
                await memory.recall.remind(caller.asker, words)
                continue
            found.append(await call(commands, caller, name, words))
            if name == "remember":
                await memory.recall.settle()
    found += [await commands.backup(OWNER), await commands.doctor(OWNER)]
    return [*found, await commands.status(OWNER)]


async def test_every_answer_is_in_one_language(memory: MemoryService, language: str) -> None:
    folder = memory.directory / "imports"
    folder.mkdir()
    text = "我喜欢茶" if language == "zh" else "I like tea"
    line = {"time": T0, "sender": "1", "name": "7", "text": text}
    (folder / "a.jsonl").write_text(json.dumps(line), "utf-8")
    (folder / "bad.jsonl").write_text(f'{json.dumps(line)}\n{{"time": "?"}}', "utf-8")
    told = await everything(memory, language)
    restores = BackupCommands(memory.directory, language, UTC)
    name = (await memory.backups.make()).name
    (memory.directory / "backups" / f"x{name}").write_bytes(b"0" * 9000)
    told += [(await restores.answer(what))[0] for what in ("", name, "foo", f"{name} xyz")]
    for given in ("", "serach", "xyz 1"):
        told.append(unknown(language, "memory", given, {"search"}, help_text(language)))
    assert not {text: words for text in told if (words := foreign(language, text))}
    assert len(told) > 200


def test_errors_are_told_in_one_language(language: str) -> None:
    _, settings = read({"retrieval_top_k": 99, "audience": "foo", "webui_port": "foo"})
    errors: list[GraphMemoryError] = [
        *settings,
        SettingError("webui_port", "?").use(1),
        DamagedError("the file is not a journal"),
        DamagedError("the file is not a journal", "1.sqlite3"),
        LockedError("in use by another"),
        StorageError("cannot be used").told("directory", path="/tmp/1"),
    ]
    if language == "zh":  # their own words are English
        errors += [JournalError("it broke"), FormatError("odd"), GraphMemoryError("oops")]
    assert not [told for each in errors if foreign(language, told := explain(language, each))]


def test_all_that_people_are_told_is_in_one_language(language: str) -> None:
    for key, phrase in TEXTS[language].items():
        if "." in key or key.startswith(FOR_MODELS):
            continue  # with the words they are to use
        bare = re.sub(r"\{[^}]*\}", "", phrase)
        if language == "zh" and key.endswith(("format_livingmemory", "hint", "how", "what")):
            continue  # which sub-commands there are
        assert not foreign(language, bare), key


def test_a_number_takes_the_word_it_counts_along() -> None:
    for number, told in ((0, "0 things"), (1, "1 thing "), (2, "2 things")):
        assert told in say("en", "status", mine=number)
    assert "1 batch " in say("en", "flushed", batches=1)
    assert "3 batches " in say("en", "flushed", batches=3)
    assert "1 条" in say("zh", "status", mine=1)
