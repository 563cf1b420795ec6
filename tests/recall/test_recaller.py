import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from graph_memory.embedding import CachedEmbedder
from graph_memory.errors import RerankError
from graph_memory.inference.breaker import BreakerState
from graph_memory.model import Episode, Forgotten, Presence, asker_of
from graph_memory.recall import Reason, Recall, Recaller, ranking
from graph_memory.text import tokens
from tests.makers import T0, entity, fact, group, private, undo, user

from .conftest import Memory
from .hashing import HashingEmbedder

ZHANG, HONG = user("10001"), user("10002")
HOME, OTHER, CLASS = private("10001"), private("10002"), group("77")


def texts(found: Recall) -> str:
    return "\n".join(item.text for item in found.items)


async def test_a_character_that_many_have_is_not_looked_for(memory, monkeypatch):
    """Of 40 messages, one in eight has 高."""
    await memory.open()
    for number in range(40):
        await memory.say(
            HOME, ZHANG, "身高一米六" if number % 8 == 0 else "路过", T0 + 90_000 * number
        )
    monkeypatch.setattr(ranking, "FAMILIAR", 5)
    assert texts(await memory.ask(HOME, "高？")).count("身高") == 1, "as many as are looked for"
    monkeypatch.setattr(ranking, "FAMILIAR", 4)
    assert (await memory.ask(HOME, "高？")).items == ()
    monkeypatch.setattr(ranking, "FAMILIAR_SHARE", 1 / 8)
    assert texts(await memory.ask(HOME, "高？")).count("身高") == 1, "it is no large share"


async def test_small_talk_reminds_of_nothing(memory: Memory) -> None:
    memory.embedder = HashingEmbedder()
    await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏，吃了会起疹子")
    await memory.say(HOME, ZHANG, "哈哈哈哈")
    await memory.know(fact(HOME, ZHANG, entity("黄山"), "张三计划十月去爬黄山"))
    for text in ("哈哈", "今天天气真好", "你好呀", "lol", "good morning", "？？？", "  "):
        found = await memory.ask(HOME, text)
        assert (text, found.items, found.block) == (text, (), "")


async def test_a_fact_is_found_by_its_keywords(memory: Memory) -> None:
    await memory.open()
    told = fact(HOME, ZHANG, entity("团子"), "张三养了一只柯基，叫团子", keywords="宠物 狗")
    await memory.know(HOME, told, fact(HOME, ZHANG, entity("石榴"), "张三种了一盆石榴"))
    found = await memory.ask(HOME, "我的宠物呢？")
    assert texts(found).endswith(told.statement)
    assert "宠物" not in found.block, "they are no part of what was said"
    await memory.know(replace(told, keywords="犬类"))
    assert texts(await memory.ask(HOME, "我的宠物呢？")) == ""
    assert "团子" in texts(await memory.ask(HOME, "我的犬类呢？"))


async def test_group_memory_reaches_only_those_who_were_there(memory: Memory) -> None:
    recaller = await memory.open()
    await memory.say(CLASS, HONG, "期末考试定在六月十八号", T0, name="小红")
    await memory.say(CLASS, ZHANG, "收到", T0 + 60)
    await memory.say(CLASS, HONG, "考场改到了三号楼", T0 + 120, name="小红")
    assert "三号楼" in texts(await memory.ask(HOME, "考场在哪一号楼"))
    assert (await memory.ask(HOME, "期末考试定在几月")).items == ()
    assert "六月十八" in texts(await memory.ask(OTHER, "期末考试定在几月"))
    recaller._views.follow(Presence(CLASS.circle, ZHANG, T0 + 60, T0 + 61))
    assert (await memory.ask(HOME, "考场在哪一号楼")).items == ()


async def test_other_personas_follow_and_are_marked(memory: Memory) -> None:
    await memory.open(cross_persona_search=True)
    tech, life = private("10001", "tech"), private("10001", "life")
    await memory.say(tech, ZHANG, "瑜伽垫买的是蓝色的那款")
    await memory.say(life, ZHANG, "瑜伽课改到了周四")
    found = await memory.ask(life, "瑜伽垫是什么颜色，瑜伽课在周几")
    assert [item.foreign for item in found.items] == [False, True]
    assert found.block.index("周四") < found.block.index("蓝色")
    assert "另一个人格的记忆" in found.items[1].text
    assert "人格" not in found.items[0].text


async def test_a_plan_that_was_settled_long_ago_is_told_to_who_asks_how_it_was(memory):
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "周末去爬了黄山", name="张三")
    plan = fact(HOME, ZHANG, entity("川藏线"), "张三打算骑行川藏线", predicate="plans", valid_to=T0)
    await memory.know(plan)
    memory.now = T0 + 20 * 86_400
    assert "〔已了结〕" in texts(await memory.ask(HOME, "我骑行川藏线的打算怎么样了？"))
    memory.now = T0 + 40 * 86_400
    assert not texts(await memory.ask(HOME, "我骑行川藏线的打算怎么样了？"))
    assert "川藏线" in texts(await memory.ask(HOME, "我以前打算骑行川藏线吗？"))
    assert "川藏线" in texts(await recaller.search(asker_of(HOME, ZHANG), "川藏线"))


async def test_what_the_model_has_in_front_of_it_is_not_repeated(memory: Memory) -> None:
    await memory.open()
    first = await memory.say(HOME, ZHANG, "我养了一只橘猫")
    now = await memory.say(HOME, ZHANG, "我的橘猫胖了，猫粮要换吗")
    learned = fact(HOME, ZHANG, entity("橘猫"), "张三养了一只橘猫", evidence=(first.id,))
    await memory.know(learned)
    text = "养的橘猫吃什么猫粮"
    assert len((await memory.ask(HOME, text)).items) == 2
    found = await memory.ask(HOME, text, exclude=[now.id])
    assert [item.id for item in found.items] == [learned.id]
    found = await memory.ask(
        HOME, text, exclude=[now.id], context=["[10001/张三]\n我养了一只橘猫\n"]
    )
    assert found.items == ()
    reasons = {each.id: each.dropped for each in found.trace.candidates}
    assert reasons[learned.id] is reasons[f"m{first.id}"] is Reason.CONTEXT
    assert reasons[f"m{now.id}"] is Reason.EXCLUDED


async def test_forgetting_and_undoing_reach_recall(memory: Memory) -> None:
    await memory.open()
    said = await memory.say(HOME, ZHANG, "我偷偷报名了马拉松")
    gone = Forgotten.of(HOME.id, said.id)
    change = await memory.know(gone, reason="forget")
    assert (await memory.ask(HOME, "马拉松报名")).items == ()
    await undo(memory.journal, change.id, "owner")
    assert "马拉松" in texts(await memory.ask(HOME, "马拉松报名"))


async def test_episodes_are_recalled_but_for_the_current_one(memory: Memory) -> None:
    await memory.open()
    now = await memory.say(HOME, ZHANG, "那次露营的事你记得吗", T0 + 5_000)
    old = Episode("ep:1", HOME.id, T0, T0 + 60, 90, 95, 6, "张三和同事讨论了莫干山露营的装备")
    current = replace(
        old, id="ep:2", summary="张三又说起莫干山露营", first_message=1, last_message=2
    )
    await memory.know(old, current)
    found = await memory.ask(HOME, "莫干山露营要带什么装备", exclude=[now.id])
    assert [(item.kind, item.id) for item in found.items] == [("episode", "ep:1")]


async def test_a_record_is_shown_once(memory: Memory) -> None:
    await memory.open()
    said = [await memory.say(HOME, ZHANG, text, T0) for text in ("去莫干山", "要带帐篷")]
    record = Episode("ep:1", HOME.id, T0, T0 + 60, said[0].id, said[1].id, 2, "张三要去莫干山露营")
    await memory.know(record)
    asked = "莫干山露营的事"
    lines = ["最近：", "- 2026-09-21 张三要去莫干山露营"]
    block = (await memory.ask(HOME, asked, records=lines)).block
    assert block.count("张三要去莫干山露营") == 1
    assert lines[1] in block


async def test_another_and_a_later_question_do_not_lean_on_it(memory: Memory) -> None:
    await memory.open()
    await memory.say(CLASS, ZHANG, "表妹的婚礼定在杭州西溪")
    await memory.say(CLASS, HONG, "大家好")

    async def follow_up(who: str) -> str:
        asker = asker_of(CLASS, who)
        return (await memory.ask(asker, "在哪儿办？", previous="表妹的婚礼准备得怎么样了")).block

    assert "西溪" in await follow_up(ZHANG)
    assert "西溪" in await follow_up(ZHANG)
    assert await follow_up(HONG) == ""
    assert "西溪" in await follow_up(HONG)
    memory.now += 2 * 3_600
    assert await follow_up(HONG) == ""


async def test_block_keeps_to_the_budget_and_the_limit(memory: Memory) -> None:
    await memory.open(retrieval_top_k=5)
    for number in range(20):
        await memory.say(
            HOME, ZHANG, f"第{number}次露营去了莫干山的{number}号营地", T0 + 900 * number
        )
    found = await memory.ask(HOME, "露营去了莫干山哪个营地", budget=5_000)
    assert len(found.items) == 5
    found = await memory.ask(HOME, "露营去了莫干山哪个营地", budget=120)
    assert 0 < len(found.items) < 5
    assert tokens(found.block) <= 120
    assert Reason.BUDGET in {each.dropped for each in found.trace.candidates}


async def test_search_is_for_looking_things_up(memory: Memory) -> None:
    recaller = await memory.open(retrieval_top_k=1)
    for number in range(4):
        await memory.say(HOME, ZHANG, f"第{number}次露营去了莫干山", T0 + 900 * number)
    await recaller.settle()
    found = await recaller.search(asker_of(HOME, ZHANG), "莫干山露营", 3)
    assert len(found.items) == 3
    assert recaller.traces.of(HOME.circle) == []


async def test_traces_are_kept_per_circle_and_newest_first(memory: Memory) -> None:
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏")
    for number in range(12):
        await memory.ask(HOME, f"花生过敏第{number}问")
    await memory.ask(OTHER, "在吗", HONG)
    kept = recaller.traces.of(HOME.circle)
    assert [trace.query for trace in kept[:2]] == ["花生过敏第11问", "花生过敏第10问"]
    assert len(kept) == 8
    assert kept[0].candidates[0].text == "我对花生过敏"
    assert {"search", "total", "embedding"} <= kept[0].timing.keys()
    assert len(recaller.traces.of(OTHER.circle)) == 1


async def test_the_lines_before_the_memories_count_in_the_budget(memory: Memory) -> None:
    await memory.open()
    for number in range(20):
        await memory.say(HOME, ZHANG, f"第{number}次说花生过敏", T0 + number * 90_000)
    lead = [
        "常挂在心上的：",
        *(f"{number}. 花生一点也不能碰，发作起来很厉害" for number in range(60)),
    ]
    found = await memory.ask(HOME, "花生过敏吗", lead=lead, budget=300)
    assert tokens(found.block) <= 300
    assert lead[1] in found.block
    assert found.items, "there is room for what is recalled"
    alone = await memory.ask(HOME, " ", lead=lead[:1] + lead[1:] * 9, budget=300)
    assert tokens(alone.block) <= 300
    assert alone.block == alone.trace.block


async def test_a_question_is_embedded_once_and_small_talk_never(memory: Memory) -> None:
    embedder = HashingEmbedder()
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await memory.say(HOME, ZHANG, "我对花生过敏，吃了会起疹子", name="张三")
    await recaller.settle()
    for text in ("我的花生过敏严重吗，要不要看医生？", "早上好呀", "哈哈哈"):
        recaller.expect(text)
        await memory.ask(HOME, text)
    assert embedder.queries == ["我的花生过敏严重吗，要不要看医生？"]
    assert (await recaller.search(asker_of(HOME, ZHANG), "早上好呀")).block == ""
    assert embedder.queries[1:] == ["早上好呀"], "who searches for it is answered"


async def test_a_model_that_would_hold_the_bot_up_embeds_a_question_when_it_is_asked(memory):
    embedder = HashingEmbedder()
    embedder.parallel = False
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await recaller.settle()
    assert not recaller.embeds_beside
    assert embedder.queries == []
    recaller.expect("我的花生过敏严重吗？")
    await memory.ask(HOME, "我的花生过敏严重吗？")
    assert embedder.queries == ["我的花生过敏严重吗？"]


async def test_the_turn_before_is_embedded_by_itself(memory: Memory) -> None:
    embedder = HashingEmbedder()
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await recaller.settle()
    recaller.expect("那它呢？")
    await memory.ask(HOME, "那它呢？", previous="我家的橘猫叫什么名字来着")
    assert sorted(embedder.queries) == ["我家的橘猫叫什么名字来着", "那它呢？"]


class Judge:
    """A reranker that prefers what holds a word; ``fails`` may raise or hang."""

    def __init__(self, word: str, fails: Callable[[], Awaitable[None]] | None = None) -> None:
        self.word, self.fails = word, fails
        self.asked: list[list[str]] = []

    async def scores(self, query: str, texts: list[str]) -> list[float]:
        self.asked.append(texts)
        if self.fails:
            await self.fails()
        return [float(self.word in text) for text in texts]


async def camped(memory: Memory, **settings: Any) -> Recaller:
    recaller = await memory.open(retrieval_top_k=2, **settings)
    for number in range(6):
        await memory.say(
            HOME, ZHANG, f"第{number}次露营去了莫干山的{number}号营地", T0 + 900 * number
        )
    await memory.say(OTHER, HONG, "露营去了莫干山的九号营地", T0)
    return recaller


async def test_a_reranker_puts_what_may_be_shown_in_order(memory: Memory) -> None:
    recaller = await camped(memory)
    before = await memory.ask(HOME, "露营去了莫干山哪个营地")
    last = before.trace.candidates[-1]
    recaller.reranker = judge = Judge(last.text)
    after = await memory.ask(HOME, "露营去了莫干山哪个营地")
    assert after.items[0].text in last.text or last.text in after.items[0].text
    assert len(after.items) == len(before.items)
    scores = [[each.score for each in found.trace.candidates] for found in (before, after)]
    assert scores[0] == scores[1], "places keep their scores: it does not decide how many are shown"
    assert after.trace.timing["reranking"] >= 0
    assert "九号" not in "".join(judge.asked[0])
    await memory.ask(HOME, "早上好呀")
    assert len(judge.asked) == 1


async def test_a_reranker_that_fails_or_is_late_changes_nothing(memory: Memory) -> None:
    recaller = await camped(memory, recall_deadline=1_000)
    before = (await memory.ask(HOME, "露营去了莫干山哪个营地")).block

    async def fail() -> None:
        raise RerankError("down")

    async def hang() -> None:
        await asyncio.sleep(60)

    recaller.reranker = judge = Judge("5号", hang)
    assert (await memory.ask(HOME, "露营去了莫干山哪个营地")).block == before
    judge.fails = fail
    for _ in range(4):
        found = await memory.ask(HOME, "露营去了莫干山哪个营地")
        assert found.block == before
        assert "reranking" not in found.trace.timing
    assert len(judge.asked) == 3, "the breaker leaves it alone"
    assert recaller.rerank_breaker.state is BreakerState.OPEN
