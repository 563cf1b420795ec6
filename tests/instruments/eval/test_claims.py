"""What the rules that stand in for a model take for the same, and what not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from graph_memory.embedding import load

from .claims import CUT, OPINION, PLAN, claimed, may_be_same, says_again
from .synonyms import Synonyms


def again(text: str, known: str, *names: str) -> bool:
    """Whether a message says what is known of who goes by some names."""
    return bool(says_again(claimed(text, names), {*names}, known))


def test_what_is_told_of_whom_is_recognised() -> None:
    told = claimed("我的同事今年31岁了。")
    assert (told.holder, told.label, told.value) == ("同事", "年龄", "31")
    named = claimed("周晓是我的同事，其年龄是31岁。")
    assert (named.statement, named.alias) == (told.statement, "周晓")
    assert claimed("今天的风很大。").label == ""


def test_only_what_is_the_same_is_said_again() -> None:
    assert again("我同事今年31岁。", "同事的年龄是31")
    assert not again("我同事今年31岁。", "同事的年龄是32")
    assert not again("我同事今年31岁。", "表姐的年龄是31")
    assert again("周晓今年31岁。", "同事的年龄是31", "同事", "周晓")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我表姐生日是六月二十三号。", "我表姐的生日是6月23日。"),
        ("我叔叔三十七岁。", "我叔叔37岁。"),
        ("昨儿我舅妈的生日是6月1日。", "我舅妈的生日是6月1日。"),
        ("我老婆的爱好是攀岩。", "我妻子喜欢攀岩。"),
        ("我爸的工作是木匠。", "我父亲的职业是木匠。"),
        ("我手下的家乡是宁波。", "我下属的家乡在宁波。"),
        ("我表哥是干木匠这一行的。", "我表哥的职业是木匠。"),
        ("我弟弟的爱好是滑雪作为消遣。", "我弟弟喜欢滑雪。"),
        ("我姑姑的职业是编辑兼翻译。", "我姑姑的职业是编辑和翻译。"),
        ("我姑姑的职业是编辑或者翻译。", "我姑姑的职业是编辑/翻译。"),
    ],
)
def test_one_value_is_the_same_in_other_forms(one: str, other: str) -> None:
    assert again(one, claimed(other).statement)
    assert again(other, claimed(one).statement)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我表姐生日是六月二十三号。", "我表姐的生日是6月20日。"),
        ("我叔叔三十七岁。", "我叔叔27岁。"),
        ("我爸的工作是木匠。", "我妈的工作是木匠。"),
        ("我手下的家乡是宁波。", "我上司的家乡是宁波。"),
        ("我弟弟喜欢滑雪。", "我弟弟不喜欢滑雪。"),
        ("我姑姑的职业是编辑兼翻译。", "我姑姑的职业是编辑和导游。"),
    ],
)
def test_another_value_or_person_is_not_the_same(one: str, other: str) -> None:
    assert not again(one, claimed(other).statement)
    assert not again(other, claimed(one).statement)


def test_what_goes_before_a_known_name_may_be_left_out() -> None:
    assert again("嗯嗯周晓的生日是5月2日。", "同事的生日是5月2日", "同事", "周晓")
    assert not again("嗯嗯周晓的生日是5月2日。", "同事的生日是5月3日", "同事", "周晓")
    assert claimed("嗯嗯周晓的生日是5月2日。").holder == ""


@pytest.mark.parametrize(
    ("text", "is_again"),
    [
        ("我表姐念书的地方叫宁波第二中学。", True),
        ("我表姐想去宁波第二中学。", False),
        ("我表姐不在宁波第二中学。", False),
        ("我舅舅念书的地方叫宁波第二中学。", False),
        ("我表姐的女儿昨天在宁波第二中学门口的文具店遇到了老邻居。", False),
    ],
)
def test_who_and_a_known_value_with_little_else(text: str, is_again: bool) -> None:
    assert again(text, "表姐的单位是宁波第二中学", "表姐") is is_again


def test_a_long_message_is_read_by_its_first_sentence() -> None:
    address = "我同事的邮箱是zhouxiao@example.com。"
    assert again(address + "再抄一遍：" + address * 3, "同事的邮箱是zhouxiao@example.com")


def test_a_plan_is_not_what_came_of_it() -> None:
    plan, deed = "下周我打算去青石湖划船", "我在青石湖划船了"
    assert claimed(plan).label == PLAN
    assert not again(deed, plan)
    assert not again(plan, deed)
    assert again("我打算下周去青石湖划船。", plan)
    # The evidence calls both the same, and it is counted as strictly as it says.
    assert may_be_same(claimed(plan), claimed(deed))


def test_an_opinion_is_not_what_it_is_about() -> None:
    opinion, visit = "青石湖的水真清，人也不多，挺安静的", "我昨天去的那个湖是青石湖"
    assert claimed(opinion).label == OPINION
    assert not again(visit, opinion)
    assert again("青石湖的水很清，人不多，特别安静。", opinion)
    walk = "我昨天先去青石湖边上散步，后来又去对岸的老街买了两斤桂花糕带回来"
    assert claimed(walk).label == ""


def test_only_a_known_statement_that_was_cut_is_compared_by_its_beginning() -> None:
    known = "我昨天去的是青石湖"
    assert again("我昨天下班以后坐车绕了老远的路去的，是青石湖。", known)
    words = "湖边的栈道修得真好，走起来很舒服，就是台阶太多，老人家走着有点累，"
    assert again(words + "而且周末的时候停车特别难。", words[:25] + CUT)


@pytest_asyncio.fixture
async def synonyms() -> AsyncIterator[Synonyms]:
    embedder = await load("bundled")
    assert embedder is not None
    yield Synonyms(embedder)
    await embedder.close()


async def test_words_that_mean_the_same(synonyms: Synonyms) -> None:
    same = [("警察", "民警"), ("唱歌", "歌唱"), ("摄影", "拍照"), ("旅游", "旅行")]
    other = [("护士", "医生"), ("打球", "足球"), ("听歌", "唱歌"), ("工程师", "程序员")]
    assert not synonyms.same("警察", "民警")
    await synonyms.learn(word for pair in same + other for word in pair)
    assert [synonyms.same(*pair) for pair in same] == [True] * 4
    assert [synonyms.same(*pair) for pair in other] == [False] * 4


async def test_synonyms_are_words_of_the_same_person(synonyms: Synonyms) -> None:
    await synonyms.learn(["警察", "民警"])
    told = claimed("我叔叔是名警察。")
    assert says_again(told, set(), "叔叔的职业是民警", synonyms.same)
    assert not says_again(told, set(), "叔叔的职业是民警")
    assert not says_again(told, set(), "舅舅的职业是民警", synonyms.same)
    assert not says_again(told, set(), "叔叔的爱好是民警", synonyms.same)


def test_a_rank_is_no_synonym() -> None:
    def same(one: str, other: str) -> bool:
        return True

    told = claimed("我叔叔是名护士。")
    assert says_again(told, set(), "叔叔的职业是看护", same)
    assert not says_again(told, set(), "叔叔的职业是看护主管", same)
