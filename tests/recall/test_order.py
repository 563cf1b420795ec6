"""What each step of the ranking is for, on text of this project's own."""

from typing import Any

import numpy as np

from graph_memory.model import GAP, Message, asker_of
from graph_memory.recall import ranking, selection
from graph_memory.recall.documents import Document
from tests.makers import T0, entity, fact, group, private, user

from ..cases import tabled
from .conftest import Memory
from .hashing import HashingEmbedder

HOME, ME = private("10001"), user("10001")
CHATTER = ["阳台的绿萝又长新叶了", "周末打算把书架重新刷一遍", "楼下面馆的辣子面涨价了"]


async def told(memory: Memory, *lines: str) -> None:
    await memory.open()
    for number, line in enumerate([*lines, *CHATTER]):
        await memory.say(HOME, ME, line, T0 - 86_400 * number)


async def place(memory: Memory, question: str, text: str) -> int:
    """Where among all candidates a text comes."""
    found = await memory.ask(HOME, question, budget=5_000)
    return next(at for at, each in enumerate(found.trace.candidates) if text in each.text)


WITHOUT: dict[str, dict[str, Any]] = {
    "the second step leads to the answer": {"ranking.second_step": lambda *found: found[4]},
    "chatter does not drown the question": {
        "query._to_the_point": lambda topic: topic,
        "query.MINOR": 1.0,
    },
    "the time that is named is preferred": {
        "ranking.timely": lambda _, seen, __: np.zeros(len(seen))
    },
    "who asks tells less than who answers": {"documents.Documents.telling": lambda *_: 1.0},
    "set questions prefer what was not said yet": {"ranking._OwnWords.said_after": lambda *_: 0.0},
}
"""What is done without, by what each step of the ranking is for."""


@tabled
async def test_what_a_step_is_for(memory, monkeypatch, step, lines, asked, answer, before):
    memory.now = T0
    await told(memory, *lines)
    assert await place(memory, asked, answer) == before
    for name, instead in WITHOUT[step].items():
        monkeypatch.setattr(f"graph_memory.recall.{name}", instead)
    assert await place(memory, asked, answer) > before


def test_what_was_lifted_keeps_its_order_below_the_best_hit() -> None:
    scores = np.array([0.3, 0.8, 1.05, 1.3, 2.6])
    pressed = ranking._below(1.0, scores)
    assert (np.diff(pressed) > 0).all()
    assert (pressed < 1.0).all()
    assert pressed[:2].tolist() == [0.3, 0.8]


def test_in_another_language_what_a_line_means_stands_for_its_words() -> None:
    lexical, close = np.array([2.0, 0.0, 0.0, 1.5]), np.array([0.1, 0.3, 0.3, 0.1])
    plain = ranking.fuse(lexical, close, np.zeros(4, np.bool_))
    foreign = ranking.fuse(lexical, close, np.array([False, False, True, True]))
    assert plain[2] == plain[1]
    assert foreign.argmax() == 2
    assert foreign[[0, 1, 3]].tolist() == plain[[0, 1, 3]].tolist(), "words in common count as ever"


async def test_documents_know_their_language(memory: Memory) -> None:
    await told(memory, "the offsite is in Porto")
    await memory.recaller.settle()
    documents = memory.recaller._sync.index.documents
    told_in = {documents[n].text: bool(documents.chinese[n]) for n in documents.numbers()}
    assert sorted(told_in.values()) == [False, *[True] * len(CHATTER)]


async def test_a_message_is_shown_as_its_fact_even_if_that_was_no_candidate(memory, monkeypatch):
    monkeypatch.setattr(ranking, "CANDIDATES", 1)
    await memory.open(retrieval_top_k=1)
    said = await memory.say(HOME, ME, "哎，今天体检，医生说我这尿酸又高上去了，海鲜得停")
    stated = fact(HOME, ME, entity("尿酸"), "医生说尿酸偏高，停海鲜", evidence=(said.id,))
    await memory.know(stated)
    found = await memory.ask(HOME, "医生说尿酸怎么样，海鲜还能吃吗")
    assert [item.id for item in found.items] == [stated.id]
    # The fact says nothing of a check-up.
    found = await memory.ask(HOME, "昨天体检，医生说我这尿酸又高了吗")
    assert [item.id for item in found.items] == [str(said.id)]


async def test_beside_a_question_with_an_answer_less_is_enough(memory, monkeypatch):
    await told(memory, "外婆下周三去眼科复查白内障", "周姐在省图书馆做事，管编目，午休时去游泳")
    asked = "外婆哪天去眼科复查白内障？周姐平常没事都爱跑到哪座公园跟谁遛弯？"
    assert "周姐" in (await memory.ask(HOME, asked)).block
    monkeypatch.setattr(selection, "BESIDE", 1.0)
    assert "周姐" not in (await memory.ask(HOME, asked)).block


async def test_of_thousands_that_fit_equally_well_the_newest_are_looked_at(memory: Memory) -> None:
    """Ranking costs the square of what is looked at."""
    await told(memory)
    count = 2 * (ranking.CANDIDATES + ranking.EQUALS)
    facts = [
        fact(HOME, ME, f"e:{number}", "每天早上跑步五公里", at=T0 + GAP * number)
        for number in range(count)
    ]
    await memory.know(*facts)
    found = await memory.ask(HOME, "每天早上跑步吗")
    looked_at = {each.id for each in found.trace.candidates}
    newest = {each.id for each in facts[-(ranking.CANDIDATES + ranking.EQUALS) :]}
    assert looked_at == newest


@tabled
async def test_a_hit_that_says_nearly_all_does_not_lead_far(memory, monkeypatch, asked, hit, stray):
    async def score() -> float:
        found = await memory.ask(HOME, asked)
        return next(each.score for each in found.trace.candidates if each.text == stray)

    await told(memory, hit, stray, "修灯的师傅是邻居介绍的", "The plumber lost a ring in our sink")
    assert await place(memory, asked, hit) == 0
    far = await score()
    monkeypatch.setattr(ranking, "_unsaid", lambda *_: 1.0)
    assert far < 0.98 * await score()


async def scores(memory: Memory, question: str) -> dict[str, float]:
    """Scores by text."""
    found = await memory.ask(HOME, question, budget=5_000)
    return {each.text: each.score for each in found.trace.candidates}


async def test_who_says_more_gains(memory, monkeypatch):
    full = "周末去爬山，早上六点从东门出发，带两瓶水和一件外套，中午在山顶吃饭"
    await told(memory, "去爬山", full, "修灯的师傅是邻居介绍的")
    found = await scores(memory, "爬山的事")
    monkeypatch.setattr(ranking, "LONG", 1e9)
    plain = await scores(memory, "爬山的事")
    assert found[full] - found["去爬山"] > plain[full] - plain["去爬山"] + ranking.WEAK / 4


async def test_an_answer_gains_by_the_question_before_it(memory, monkeypatch):
    asked, answer = "你女儿在哪个学校读书？", "学校是实验二小，三年级了"
    memory.embedder = HashingEmbedder()
    await memory.open()
    for number, line in enumerate((asked, answer, "那挺近的呀")):
        await memory.say(HOME, ME, line, T0 + number)
    found = await scores(memory, "女儿在哪个学校读书")
    questions = memory.recaller._sync.index.documents.asking
    assert questions.sum() == 1
    questions[:] = False
    assert found[answer] > (await scores(memory, "女儿在哪个学校读书"))[answer]


async def test_in_set_questions_the_hits_say_which_words_name_the_kind(memory, monkeypatch):
    stray, other = "AB卷发了，有几个人没拿", "小冯血型也是AB"
    await told(
        memory, "小吴的血型是AB型", "小郑的血型是AB型", other, "小何献血才知道血型是O型", stray
    )
    voted = await scores(memory, "有几个人的血型是AB型？")
    monkeypatch.setattr(ranking, "vote", lambda *found: found[-1])
    alone = await scores(memory, "有几个人的血型是AB型？")
    assert voted[other] - voted[stray] > alone[other] - alone[stray] + ranking.WEAK


def test_the_questions_of_a_message_take_turns() -> None:
    def found(*positions: int) -> list[ranking.Candidate]:
        return [candidate(position) for position in positions]

    merged = ranking.interleave([found(1, 2, 3), found(4, 1)])
    assert [each.position for each in merged] == [1, 4, 2, 3]


def candidate(position: int) -> ranking.Candidate:
    said = Document.of(fact(HOME, ME, entity("猫"), "张三有只猫"))
    return ranking.Candidate(position, said, 0, 1.0, 1.0, False, ())


ROOM = group("7")


async def spoken(memory: Memory, *lines: tuple[str, str, str]) -> None:
    await memory.open()
    for number, (who, called, line) in enumerate(lines):
        await memory.say(ROOM, user(who), line, T0 - 86_400 * number, name=called)


async def test_who_is_called_by_the_name_they_speak_under_gains(memory, monkeypatch):
    await spoken(
        memory,
        ("1", "Emi Long", "I went hiking on the weekend"),
        ("2", "Fahim Khan", "went hiking that weekend, with my brother"),
    )

    async def scores() -> dict[str, float]:
        found = await memory.ask(asker_of(ROOM, ME), "Did Fahim go hiking on the weekend?")
        return {each.text.partition(":")[0]: each.score for each in found.trace.candidates}

    with_name = await scores()
    monkeypatch.setattr(ranking, "_called", lambda _, seen, *__: np.zeros(len(seen), np.bool_))
    without = await scores()
    assert with_name["Fahim Khan"] > without["Fahim Khan"]
    assert with_name["Emi Long"] == without["Emi Long"]


async def test_a_question_about_a_speaker_is_embedded_as_they_would_put_it_too(memory):
    memory.embedder = embedder = HashingEmbedder()
    await spoken(memory, ("1", "小红", "我养了一只橘猫"))

    async def embedded(room, question: str) -> list[str]:
        embedder.queries.clear()
        await memory.ask(asker_of(room, ME), question)
        return embedder.queries

    assert await embedded(ROOM, "小红养了什么？") == ["小红养了什么？", "我养了什么？"]
    assert await embedded(ROOM, "我和小红养了什么？") == ["我和小红养了什么？"]
    assert await embedded(ROOM, "给小红带只猫来") == ["给小红带只猫来"]
    elsewhere = await embedded(group("8"), "小红养了什么？")
    assert elsewhere == ["小红养了什么？"], "who spoke where one cannot see is nobody"


async def test_of_many_facts_of_the_kind_that_is_asked_for_each_gains_less(memory):
    await told(memory)
    things = ["爬山", "唱歌", "下棋", "钓鱼", "滑雪", "养花"]

    async def gained(known: int) -> float:
        facts = [fact(HOME, ME, entity(e), f"张三喜欢{e}", predicate="likes") for e in things]
        await memory.know(*facts[:known])
        found = await memory.ask(HOME, "我喜欢什么")
        return max(each.signals["near"] for each in found.trace.candidates)

    few = await gained(3)
    assert await gained(6) < few - ranking.STRONG / 3
    for thing in ("花生", "芒果", "虾", "牛奶"):
        about = entity(thing)
        await memory.know(fact(HOME, ME, about, f"张三对{thing}过敏", predicate="allergic_to"))
    found = await memory.ask(HOME, "推荐点零食吧")
    near = [each.signals["near"] for each in found.trace.candidates if "过敏" in each.text]
    assert len(near) == 4
    assert min(near) >= ranking.STRONG  # each of them matters


async def test_more_than_a_few_of_a_kind_have_to_be_good(memory, monkeypatch):
    await told(memory)
    for thing in ("吉他", "钢琴", "二胡", "口琴", "长笛"):
        await memory.know(fact(HOME, ME, entity(thing), f"张三会弹{thing}这种乐器"))
    asked = "我会弹哪些乐器"
    assert len((await memory.ask(HOME, asked)).items) == 5
    monkeypatch.setattr(selection, "FAIR", 2.0)
    assert len((await memory.ask(HOME, asked)).items) == ranking.FEW


async def test_names_that_are_spoken_under_are_called_as_people_do(memory: Memory) -> None:
    await spoken(memory, ("1", "Emi Long", "I went hiking"), ("2", "陈大文", "我去爬山"))
    recaller = await memory.open()
    await recaller.settle()
    documents = recaller._sync.index.documents
    numbers = np.array(documents.numbers(), np.intp)

    def meant(text: str) -> set[str]:
        called = numbers[documents.under(text, numbers)].tolist()
        return {source.name for n in called if isinstance(source := documents[n].source, Message)}

    assert meant("what did emi do?") == meant("Emi Long?") == {"Emi Long"}
    assert meant("大文和陳大文去哪了") == {"陈大文"}
    assert meant("remission") == meant("大文去哪了") == meant("e") == set()


JOBS = (
    "在惠民超市管生鲜",
    "在惠民超市做了九年采购",
    "还在惠民超市上班，天天早起",
    "被录用，去了麦穗面包店",
)


async def test_of_several_jobs_the_latest_comes_first_and_an_earlier_one_if_that_is_asked(memory):
    await told(memory, "今天好累")
    for number, job in enumerate(JOBS):
        shop, at = entity(job[1:6]), T0 + 86_400 * 30 * number
        job_of_then = fact(HOME, ME, shop, job, predicate="works_at", at=at, valid_from=at)
        await memory.know(job_of_then)
    memory.now = T0 + 86_400 * 120
    now = await memory.ask(HOME, "我现在在哪上班来着")
    assert JOBS[-1] in now.block, now.block
    before = await memory.ask(HOME, "我以前在哪上班来着")
    assert JOBS[-1] != before.items[0].text, before.block
