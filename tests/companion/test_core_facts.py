"""Core facts: few, numbered, always there; what is of use stays, what is pinned stays as it is."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from graph_memory.companion import CoreFact, CoreKind
from graph_memory.companion.core_facts import MOST, CoreFacts
from graph_memory.model import Turn
from graph_memory.store import Draft, Rows

from ..scripted import answer, said
from ..world import CLUB, HOME, ZHANG, World, li, li_in_club, zhang, zhang_in_club, zhang_to_lan


def core(*claims: dict[str, Any], **more: Any) -> dict[str, Any]:
    return answer(core=list(claims), **more)


def claim(text: str, type: str = "fact", evidence: str = "1", **more: Any) -> dict[str, Any]:
    return {"type": type, "text": text, "about": "U1", "evidence": evidence, **more}


async def kept(world: World) -> dict[int, CoreFact]:
    return {row.number: row for row in await world.rows(CoreFact)}


async def test_the_batch_call_adds_updates_merges_and_uses(world: World) -> None:
    await world.say(zhang, "我在医院上夜班，最近很累")
    await world.say(zhang, "一累就容易发火，让我静一静就好")
    await world.learn(
        core(
            claim("张三在医院上夜班"),
            claim("张三累了容易发火，让他静一静", "feeling", "2"),
            claim("张三常常很累", "fact", "1"),
        )
    )
    rows = await kept(world)
    assert [(n, rows[n].type) for n in sorted(rows)] == [(1, "fact"), (2, "feeling"), (3, "fact")]
    world.later(3600)
    await world.say(zhang, "我换到白班了")
    await world.answer(HOME, "恭喜，累的时候我会让你静一静")
    await world.learn(core(claim("张三在医院上白班", replaces="C1,C3"), core_used="C2"))
    prompt = world.model.calls[-1].prompt
    assert "C1 U1 fact: 张三在医院上夜班" in prompt
    after = await kept(world)
    assert {n: row.text for n, row in after.items()} == {
        1: "张三在医院上白班",
        2: "张三累了容易发火，让他静一静",
    }
    assert after[1].id == rows[1].id
    assert after[2].used_at > rows[2].used_at
    assert set(after[1].evidence) == {1, 3}


async def test_what_is_kept_in_somebodys_own_words_is_theirs(world: World) -> None:
    await world.say(zhang, "记住我只吃素")
    await world.learn(answer())
    _, lead = await world.ask(zhang, "今天天气怎么样")
    heading = next(line for line in lead.splitlines() if "你一直记着" in line)
    assert "[事实] 我只吃素" in lead
    assert "“我”是这个人" in heading, "not the model"


async def test_they_are_in_every_block_in_place_of_the_profile(world: World) -> None:
    await world.say(zhang, "我住在西安，做护士")
    await world.learn(core(claim("张三是西安的护士")))
    found, lead = await world.ask(zhang, "今天天气怎么样")
    assert "1. [事实] 张三是西安的护士" in lead
    assert "张三是西安的护士" in found.block
    assert found.trace.block == found.block
    assert (await world.leading(zhang, "今天天气怎么样")).has_profile
    assert found.block.count("<memories>") == found.block.count("</memories>") == 1


async def test_nobody_else_sees_them(world: World) -> None:
    await world.say(zhang, "我怕打雷")
    await world.say(li_in_club, "大家好")
    await world.learn(core(claim("张三怕打雷")))
    for other in (zhang_to_lan, zhang_in_club, li, li_in_club):
        await world.say(other, "在吗")
        assert "打雷" not in await world.lead(other, "在吗")
        assert "打雷" not in await world.commands.companion.core(other)
    assert "打雷" in await world.lead(zhang, "在吗")


async def test_in_a_group_each_has_their_own(world: World) -> None:
    await world.say(zhang_in_club, "我养了一只猫")
    await world.say(li_in_club, "我怕猫")
    await world.learn(
        core(claim("张三养了一只猫"), {**claim("李四怕猫", evidence="2"), "about": "U2"})
    )
    assert "张三养了一只猫" in await world.lead(zhang_in_club, "在吗")
    assert "李四怕猫" not in await world.lead(zhang_in_club, "在吗")
    assert "李四怕猫" in await world.lead(li_in_club, "在吗")
    await world.say(zhang, "在吗")
    assert "猫" not in await world.lead(zhang, "在吗")


@pytest.mark.parametrize(
    "bad",
    [
        claim("没有依据", evidence=""),
        claim("机器人说的", evidence="2"),
        claim("张三来自苏州", evidence="1", about="U7"),
        claim("", evidence="1"),
        {"text": ["乱"], "evidence": {"a": 1}},
        "只是一句话",
        claim("不在这里", evidence="99"),
    ],
)
async def test_what_does_not_rest_on_the_users_own_words_is_left_out(world, bad):
    await world.say(zhang, "你好呀，我来自苏州")
    await world.answer(HOME, "你是世界冠军")
    await world.learn(answer(core=[bad], core_used={"C1": 2}))
    if isinstance(bad, dict) and bad.get("about") == "U7":
        # An unknown label is no person: it is about who said it.
        assert [row.user for row in await world.rows(CoreFact)] == [ZHANG]
    else:
        assert await world.rows(CoreFact) == []


async def test_remember_acts_at_once_in_a_private_chat(world: World) -> None:
    world.model.script.append(answer(said("U1", "allergic_to", "花生", "张三对花生过敏", 1)))
    assert "记" in await world.commands.remember(replace(zhang, text="我对花生过敏"))
    assert [row.text for row in await world.rows(CoreFact)] == ["张三对花生过敏"]
    await world.say(zhang, "记住我的生日是五月三日")
    await world.learn(answer(said("U1", "birthday", "五月三日", "张三的生日是五月三日", 1)))
    assert {row.text for row in await world.rows(CoreFact)} == {
        "张三对花生过敏",
        "张三的生日是五月三日",
    }
    await world.say(zhang_in_club, "记住我喜欢红色")
    await world.learn(answer(said("U1", "likes", "红色", "张三喜欢红色", 1)))
    assert len(await world.rows(CoreFact)) == 2


async def test_without_an_answer_of_the_model_it_is_kept_as_said(world: World) -> None:
    await world.commands.remember(replace(zhang, text="钥匙在花盆下面"))
    assert ["钥匙在花盆下面" in row.text for row in await world.rows(CoreFact)] == [True]


async def test_people_pin_edit_and_drop_their_own(world: World) -> None:
    await world.say(zhang, "我喜欢登山，也喜欢游泳")
    await world.learn(core(claim("张三喜欢登山"), claim("张三喜欢游泳")))
    ask = world.commands.companion.core
    assert "1. [事实] 张三喜欢登山\n" in await ask(zhang)
    assert "已固定第 1 条" in await ask(zhang, "pin 1")
    assert "📌" in await ask(zhang)
    assert "改为：我喜欢潜水" in await ask(zhang, "edit 2 我喜欢潜水")
    await world.say(zhang, "我不登山了")
    await world.learn(core(claim("张三不登山了", replaces="C1,C2")))
    texts = {row.number: row.text for row in await world.rows(CoreFact)}
    assert texts == {1: "张三喜欢登山", 2: "我喜欢潜水", 3: "张三不登山了"}
    assert "已删除第 1 条" in await ask(zhang, "drop 1")
    assert "登山\n" not in await ask(zhang)
    assert "撤销" in await world.commands.undo(zhang) or "又" in await world.commands.undo(zhang)
    assert "张三喜欢登山" in await ask(zhang)
    for wrong in ("pin", "pin 9", "drop 一", "edit 1", "删除 77", "飞 1"):
        assert "🧠" in await ask(zhang, wrong)
    assert "不存在，或不能这样改" in await ask(li, "drop 1")
    assert "不存在，或不能这样改" in await ask(zhang_to_lan, "drop 1")
    assert len(await world.rows(CoreFact)) == 3


async def test_dropped_while_the_model_was_thinking_it_stays_dropped(world: World) -> None:
    await world.say(zhang, "我喜欢登山")
    await world.learn(core(claim("张三喜欢登山")))
    await world.say(zhang, "我常去华山")

    async def drop() -> None:
        await world.commands.companion.core(zhang, "drop 1")

    gate = world.model.gate = asyncio.Event()
    world.model.asked.clear()
    learning = asyncio.create_task(world.learn(core(claim("张三常去华山登山", replaces="C1"))))
    await world.model.asked.wait()
    await drop()
    gate.set()
    await learning
    assert await world.rows(CoreFact) == []


async def test_a_message_taken_back_takes_its_core_fact_along(world: World) -> None:
    await world.memory.learning.hear(Turn(HOME, ZHANG, "张三", "我在躲一个人", ref="77@1"))
    await world.learn(core(claim("张三在躲一个人")))
    assert await world.rows(CoreFact)
    await world.memory.library.retract(HOME.circle, "77")
    await world.memory.settle()
    assert await world.rows(CoreFact) == []
    assert "躲" not in await world.lead(zhang, "在吗")
    log = await world.memory.journal.look(
        lambda db: "".join(ops for (ops,) in db.execute("SELECT ops FROM change"))
    )
    assert "躲一个人" not in log


async def test_forgetting_a_user_takes_what_is_kept_in_mind_along(world: World) -> None:
    await world.say(zhang_in_club, "我怕黑")
    await world.say(li_in_club, "我怕高")
    await world.learn(core(claim("张三怕黑"), {**claim("李四怕高", evidence="2"), "about": "U2"}))
    await world.memory.forget_me.forget(ZHANG)
    assert [row.text for row in await world.rows(CoreFact)] == ["李四怕高"]


# ----------------------------------------------------------------------- shelf


async def shelved(world: World, work: Any) -> dict[int, CoreFact]:
    def draft(rows: Rows) -> Draft:
        shelf = CoreFacts(rows, CLUB.id, ZHANG, world.clock[0])
        work(shelf)
        made = Draft("test", "core", put=[CLUB])
        shelf.write(made)
        return made

    world.later(1)
    await world.memory.journal.commit(draft)
    return await kept(world)


async def test_what_was_of_use_longest_ago_makes_room(world: World) -> None:
    for number in range(MOST):
        text = f"第{number}件事"
        await shelved(world, lambda s, t=text: s.add(t, CoreKind.FACT, 1.0, (1,)))
    full = await kept(world)
    assert sorted(full) == list(range(1, MOST + 1))
    await shelved(world, lambda s: s.use(full[1].id))
    pinned = Draft("test", "core", put=[replace(full[2], pinned=True)])
    await world.memory.journal.commit(lambda _: pinned)
    after = await shelved(world, lambda s: s.add("新的事", CoreKind.MOMENT, 1.0, (2,)))
    assert len(after) == MOST
    assert after[3].text == "新的事"
    assert (after[1].text, after[2].text) == ("第0件事", "第1件事")


async def test_with_everything_pinned_nothing_is_added(world: World) -> None:
    for number in range(MOST):
        text = f"第{number}件事"
        await shelved(world, lambda s, t=text: s.add(t, CoreKind.FACT, 1.0, (1,)))
    pinned = [replace(row, pinned=True) for row in (await kept(world)).values()]
    await world.memory.journal.commit(lambda _: Draft("test", "core", put=[*pinned]))
    after = await shelved(world, lambda s: s.add("新的事", CoreKind.FACT, 1.0, (2,)))
    assert "新的事" not in {row.text for row in after.values()}


async def test_the_same_words_are_the_same_thing(world: World) -> None:
    await shelved(world, lambda s: s.add("张三喜欢 Python", CoreKind.FACT, 1.0, (1,)))
    after = await shelved(world, lambda s: s.add("张三喜欢 python", CoreKind.FACT, 2.0, (5,)))
    assert len(after) == 1
    assert after[1].evidence == (1, 5)
