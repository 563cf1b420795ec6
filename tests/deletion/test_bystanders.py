"""What others said, were told and were promised stays when somebody else goes."""

from dataclasses import replace
from pathlib import Path

from graph_memory.model import Episode, Fact

from ..scripted import answer, said
from ..world import CLUB, li_in_club, living, zhang_in_club


async def test_what_the_bot_promised_to_others_stays(tmp_path: Path) -> None:
    """Who said no more than hello takes nothing from those who were answered."""
    async with living(tmp_path) as world:
        ball = "周六下午三点叫我去打球好吗"
        await world.say(zhang_in_club, "hi")
        await world.say(li_in_club, ball)
        promise = "好的，我答应周六下午三点提醒你带护膝"
        await world.memory.learning.reply(CLUB, promise, to=li_in_club.user)
        await world.memory.learning.reply(CLUB, "hi 呀", to=zhang_in_club.user)
        await world.learn(
            answer(
                said("BOT", "promised", "护膝", "机器人答应提醒李四带护膝", 3),
                summary="张三打了招呼，李四约了打球。",
            )
        )
        await world.memory.forget_me.forget(zhang_in_club.user)
        told = [message.text for message in await world.memory.journal.newest_messages(9)]
        assert told == [ball, promise]
        assert [fact.statement for fact in await world.rows(Fact)] == ["机器人答应提醒李四带护膝"]
        (episode,) = await world.rows(Episode)
        assert episode.summary == f"李四: {ball}"
        await world.memory.settle()
        assert "护膝" in await world.commands.search(li_in_club, "护膝")


async def test_a_retraction_leaves_a_summary_of_the_rest(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await world.say(zhang_in_club, "我们周五去川渝人家吃饭")
        await world.memory.learning.hear(replace(li_in_club, text="嗯", ref="9@1"))
        await world.learn(answer(summary="约了周五吃饭，李四说嗯。"))
        assert await world.memory.library.retract(CLUB.circle, "9")
        (episode,) = await world.rows(Episode)
        assert episode.summary == "张三: 我们周五去川渝人家吃饭"
