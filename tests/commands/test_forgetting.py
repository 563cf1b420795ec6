"""Forgetting, correcting and undoing do what their names say, with all that rests on it."""

from dataclasses import replace

from graph_memory.companion import CoreFact
from graph_memory.library import OWNER, Amendment
from graph_memory.model import Fact, Turn

from ..scripted import answer, said
from ..world import World, li_in_club, zhang, zhang_in_club, zhang_to_lan

DAY = 86_400.0


async def remember(world: World, text: str, turn: Turn = zhang) -> None:
    await world.commands.remember(replace(turn, text=text))
    await world.memory.settle()


async def reminded(world: World, text: str, turn: Turn = zhang) -> str:
    """All that stands before the model when somebody says something."""
    found, lead = await world.ask(turn, text)
    return f"{lead}\n{found.block}"


async def test_what_is_forgotten_is_no_core_fact_either(world: World) -> None:
    await remember(world, "我不吃香菜")
    assert "香菜" in await world.commands.companion.core(zhang)
    await world.commands.mine(zhang)
    await world.commands.forget(zhang, "1")
    assert "香菜" not in await world.commands.companion.core(zhang)
    assert "香菜" not in await reminded(world, "点个菜吧")
    await world.commands.undo(zhang)
    assert "香菜" in await world.commands.companion.core(zhang)


async def test_what_is_corrected_is_corrected_as_a_core_fact(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    await world.commands.mine(zhang)
    await world.commands.correct(zhang, "1 我的座位号是9排1座")
    assert "9排1座" in await world.commands.companion.core(zhang)
    assert "7排3座" not in await reminded(world, "我坐哪儿？")
    await world.commands.undo(zhang)
    assert "7排3座" in await world.commands.companion.core(zhang)
    assert len(await world.rows(CoreFact)) == 1


async def test_a_message_that_is_forgotten_takes_its_core_fact(world: World) -> None:
    await remember(world, "我不吃香菜")
    (core,) = await world.rows(CoreFact)
    await world.memory.library.unsay(core.evidence[0], zhang.asker, zhang.user)
    assert await world.rows(CoreFact) == []


async def test_forgetting_takes_what_was_corrected_before(world: World) -> None:
    await remember(world, "我的手机尾号是1111")
    for newer in ("2222", "3333"):
        await world.commands.mine(zhang)
        await world.commands.correct(zhang, f"1 我的手机尾号是{newer}")
    await world.commands.mine(zhang)
    told = await world.commands.forget(zhang, "1")
    assert "连同从前的说法" in told
    assert await world.rows(Fact) == []
    for question in ("我的手机尾号是多少？", "我以前的手机尾号呢？"):
        assert "1111" not in await reminded(world, question)
    await world.commands.undo(zhang)
    assert "3333" in await world.commands.mine(zhang)
    assert "1111" not in await world.commands.mine(zhang)


async def test_after_a_correction_the_number_means_the_new_line(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    await world.commands.mine(zhang)
    await world.commands.correct(zhang, "1 我的座位号是9排1座")
    assert "9排1座" in await world.commands.forget(zhang, "1")


async def test_a_line_is_forgotten_on_its_day_and_comes_back_by_undo(world: World) -> None:
    await world.say(zhang, "这周都在出差")
    await world.learn(answer(said("U1", "status", "出差", "张三在出差", 1)))
    await world.commands.mine(zhang)
    assert "看不懂" in await world.commands.forget(zhang, "1 改天")
    assert "出差" in await world.commands.forget(zhang, "1 2026-12-31")
    (fact,) = await world.rows(Fact)
    assert fact.expires
    assert "不会到期" in await world.commands.undo(zhang)
    assert (await world.rows(Fact))[0].expires is None
    await world.commands.forget(zhang, "1 2026-12-31")
    world.clock[0] = fact.expires + 1
    await world.memory.upkeep._step()
    await world.memory.settle()
    assert "出差" not in await world.commands.mine(zhang)
    assert "出差" not in await reminded(world, "我这周在忙什么？")
    told = await world.commands.undo(zhang)
    assert "出差" in told
    assert "不再到期" in told
    assert "出差" in await world.commands.mine(zhang)
    await world.memory.upkeep._step()
    assert "出差" in await world.commands.mine(zhang)


async def test_nobody_dates_what_is_not_theirs(world: World) -> None:
    await world.say(li_in_club, "我喜欢听评书")
    await world.learn(answer(said("U1", "likes", "评书", "李四喜欢听评书", 1)))
    (fact,) = await world.rows(Fact)
    assert "不是你的" in await world.commands.forget(zhang_in_club, f"{fact.id} 2030-01-01")
    assert (await world.rows(Fact))[0].expires is None
    for day in ("2030-01-01", "5月8日", "周五", "这周", "tomorrow"):
        assert "忘掉" in await world.commands.forget(li_in_club, f"{fact.id} {day}")
        assert (await world.rows(Fact))[0].expires > fact.said_at


async def test_undo_says_what_it_undoes_and_asks_about_what_is_old(world: World) -> None:
    await world.say(zhang, "记住我对青霉素过敏")
    await world.learn(answer(said("U1", "allergic_to", "青霉素", "张三对青霉素过敏", 1)))
    world.later(5 * DAY)
    await world.commands.mine(zhang)
    await world.commands.correct(zhang, "1 我对青霉素和头孢过敏")
    told = await world.commands.undo(zhang)
    assert "刚才的更正已还原" in told
    assert "张三对青霉素过敏" in told
    asked = await world.commands.undo(zhang)
    assert "是 2026-09-2" in asked
    assert "青霉素" in asked
    assert "确认" in asked
    assert "青霉素" in await world.commands.mine(zhang)
    assert "已删掉" in await world.commands.undo(zhang, "确认")
    assert "青霉素" not in await world.commands.mine(zhang)
    assert "青霉素" in await world.commands.redo(zhang)
    assert "青霉素" in await world.commands.mine(zhang)
    assert "没有可以恢复" in await world.commands.redo(zhang)
    assert "青霉素" in await world.commands.undo(zhang), "a redo is undone as anything else"
    assert "青霉素" not in await world.commands.mine(zhang)


async def test_nobody_confirms_another_change_than_was_shown(world: World) -> None:
    await remember(world, "我住在长沙")
    world.later(DAY)
    assert "长沙" in await world.commands.undo(zhang, "确认")
    assert "长沙" in await world.commands.mine(zhang), "it was not shown before"


async def test_others_words_stay_when_who_they_are_about_forgets(world: World) -> None:
    await world.say(zhang_in_club, "我和李四是同学，另外我家密室里养了一只叫芝麻的猫")
    await world.say(li_in_club, "张三家在芙蓉路88号，他住在长沙")
    await world.learn(
        answer(
            said("U1", "friend_of", "U2", "张三和李四是同学", 1),
            said("U1", "lives_in", "长沙", "张三住在长沙", 2),
        )
    )
    facts = {fact.statement: fact.id for fact in await world.rows(Fact)}
    assert "不是你的" in await world.commands.forget(li_in_club, facts["张三和李四是同学"])
    assert "已忘掉" in await world.commands.forget(zhang_in_club, facts["张三住在长沙"])
    assert [fact.statement for fact in await world.rows(Fact)] == ["张三和李四是同学"]
    for word in ("芝麻", "芙蓉路"):
        found = await world.tools.use(li_in_club, "search_history", {"keyword": word})
        assert word in found


async def test_nobody_undoes_before_others_what_was_done_in_private(world: World) -> None:
    await remember(world, "我喜欢下围棋", zhang_in_club)
    await remember(world, "我暗恋李四")
    await world.commands.companion.core(zhang, "drop 1")
    told = await world.commands.undo(zhang_in_club)
    assert "围棋" in told, "the last thing that was done here"
    assert "暗恋" not in told
    assert "没有可以撤销" in await world.commands.undo(zhang_in_club)
    assert "暗恋" in await world.commands.undo(zhang), "the core fact"
    told = await world.commands.redo(zhang_in_club)
    assert "围棋" in told
    assert "暗恋" not in told


async def test_what_was_done_under_another_persona_can_be_undone(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    await world.commands.mine(zhang_to_lan)
    await world.commands.forget(zhang_to_lan, "1")
    assert "7排3座" in await world.commands.undo(zhang_to_lan)
    assert "7排3座" in await world.commands.companion.core(zhang)


async def test_core_facts_of_other_personas_follow_a_correction(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    await world.commands.mine(zhang_to_lan)
    await world.commands.correct(zhang_to_lan, "1 我的座位号是9排1座")
    assert "7排3座" not in await world.commands.companion.core(zhang)
    assert "7排3座" not in await world.lead(zhang, "我坐哪儿？")
    await world.commands.undo(zhang_to_lan)
    assert "7排3座" in await world.commands.companion.core(zhang)


async def test_core_facts_follow_what_the_owner_amends(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    (fact,) = await world.rows(Fact)
    amended = await world.memory.library.amend(fact.id, Amendment("张三的座位号是9排1座"), OWNER)
    assert "9排1座" in await world.commands.companion.core(zhang)
    await world.memory.library.undo(amended.id, OWNER)
    assert "7排3座" in await world.commands.companion.core(zhang)


async def test_a_core_fact_of_something_else_in_the_same_message_stays(world: World) -> None:
    await world.say(zhang, "记住我对花生过敏，还有我喜欢爬山")
    allergy = said("U1", "allergic_to", "花生", "张三对花生过敏", 1)
    await world.learn(answer(allergy, said("U1", "likes", "爬山", "张三喜欢爬山", 1)))
    facts = {fact.statement: fact.id for fact in await world.rows(Fact)}
    await world.commands.correct(zhang, f"{facts['张三喜欢爬山']} 我喜欢游泳")
    core = await world.commands.companion.core(zhang)
    assert "花生" in core
    assert "游泳" in core
    assert "爬山" not in core
    await world.commands.undo(zhang)
    await world.commands.forget(zhang, facts["张三喜欢爬山"])
    core = await world.commands.companion.core(zhang)
    assert "花生" in core
    assert "爬山" not in core


async def test_no_answer_repeats_a_secret(world: World) -> None:
    await remember(world, "我的网银换了")
    await world.commands.mine(zhang)
    assert "4111" not in await world.commands.correct(zhang, "1 我的卡号是 4111111111111111")
    told = await world.commands.companion.core(zhang, "edit 1 网银密码是 Zx9qWv7T")
    assert "已固定" in told
    assert "Zx9qWv7T" not in told
