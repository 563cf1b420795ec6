"""Records answer what was talked about at a time, and nothing else notices them."""

from dataclasses import replace
from datetime import datetime, timedelta

from graph_memory.model import Episode, Session, asker_of
from tests.cases import rows, tabled
from tests.makers import CHINA, entity, fact, group, private, user
from tests.scripted import HashEmbedder

from .conftest import Memory

HOME, CLUB = private("zhang"), group("1")
ZHANG, LI = user("zhang"), user("li")
NOW = datetime(2027, 1, 15, 12, tzinfo=CHINA)


def record(
    level: str, month: int, days: float, text: str, session: Session = HOME, day: int = 1
) -> Episode:
    start = datetime(2026, month, day, 9, tzinfo=CHINA)
    end = start + timedelta(days=days)
    id = f"rec:{session.id}{level}{month}.{day}"
    return Episode(
        id, session.id, start.timestamp(), end.timestamp(), 1, 9, 100, text, (ZHANG,), level,
        ("ep:1", "ep:2"),
    )  # fmt: skip


TOLD = rows(__file__, "what was recorded")
TEXTS = {name: text for name, text, *_ in TOLD}
RECORDS = [record(level, month, days, text, day=day) for _, text, level, month, day, days in TOLD]


@tabled
async def test_a_question_about_a_time(memory: Memory, question: str, told: list[str]):
    memory.now = NOW.timestamp()
    await memory.open(injection_token_budget=2000)
    await memory.know(HOME, *RECORDS)
    found = await memory.ask(HOME, question)
    assert [name for name, text in TEXTS.items() if text in found.block] == told
    if "july" in told:
        assert "2026-07-01" in found.block
        assert "2026-07-30" in found.block
        assert [item.kind for item in found.items] == ["episode"] * len(told)
    explained = await memory.recaller.explain(asker_of(HOME, ZHANG))
    assert [each.text for each in explained.shown] == [TEXTS[name] for name in told]


async def test_to_other_questions_it_is_as_if_there_were_no_records(memory: Memory):
    memory.now = NOW.timestamp()
    memory.embedder = HashEmbedder()
    await memory.open()
    at = datetime(2026, 7, 5, tzinfo=CHINA).timestamp()
    await memory.say(HOME, ZHANG, "七月我要去青岛看海", at)
    await memory.know(HOME, fact(HOME, ZHANG, entity("青岛"), "张三去过青岛看海", at=at))
    asked = ("张三在青岛看海吗", "去年7月去了哪里看海", "冲浪好玩吗")
    before = [await memory.ask(HOME, question) for question in asked]
    await memory.know(*RECORDS)
    after = [await memory.ask(HOME, question) for question in asked]
    for one, other in zip(before, after, strict=True):
        assert one.block == other.block
        assert one.trace.candidates == other.trace.candidates
    together = await memory.ask(HOME, "去年7月我们聊了什么关于青岛看海的事", limit=8)
    assert TEXTS["july"] in together.block
    assert "张三去过青岛看海" in together.block


async def test_who_was_not_there_for_all_of_it_is_not_told(memory: Memory):
    memory.now = NOW.timestamp()
    start = datetime(2026, 7, 2, tzinfo=CHINA).timestamp()
    await memory.say(CLUB, ZHANG, "我先来", datetime(2026, 1, 1, tzinfo=CHINA).timestamp())
    await memory.say(CLUB, LI, "我后来", start)
    await memory.open()
    july = record("month", 7, 29, "群里七月聊了爬山", CLUB)
    august = record("month", 8, 29, "群里八月聊了露营", CLUB)
    await memory.know(CLUB, private("li"), HOME, july, august)
    late = await memory.ask(private("li"), "去年夏天群里聊了什么")
    assert ("七月" in late.block, "八月" in late.block) == (False, True)
    early = await memory.ask(HOME, "去年夏天群里聊了什么")
    assert ("七月" in early.block, "八月" in early.block) == (True, True)
    other = await memory.ask(private("zhang", "另一个人格"), "去年夏天聊了什么")
    assert other.block == ""


async def test_a_record_that_loses_its_words_or_goes_is_not_told_any_more(memory: Memory):
    memory.now = NOW.timestamp()
    await memory.open()
    await memory.know(HOME, *RECORDS)
    assert TEXTS["may"] in (await memory.ask(HOME, "去年5月聊了什么")).block
    await memory.know(replace(RECORDS[-1], summary=""))
    assert (await memory.ask(HOME, "去年5月聊了什么")).block == ""
    await memory.recaller.rebuild()
    assert TEXTS["july"] in (await memory.ask(HOME, "去年7月聊了什么")).block
