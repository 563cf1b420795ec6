"""The stand-in's patterns, on the very prompt that the plugin shows to a model."""

from datetime import UTC

import pytest

from graph_memory.inference.ports import Answer
from graph_memory.learning.parse import parse
from graph_memory.learning.prompt import TOOL, PromptContext, compose, speakers
from graph_memory.model import BOT, PREDICATES, Batch, Message, session_of
from tests.e2e.harness import ChatCall
from tests.instruments.demo.extraction import RULES, extract
from tests.instruments.demo.standin import learn, memory_lines

SESSION = session_of("webchat", "", "astrbot", "default")


def batch(*lines: tuple[str, str]) -> Batch:
    messages = [
        Message(i, SESSION.id, sender, sender.removeprefix("webchat:"), text, 1e9 + i)
        for i, (sender, text) in enumerate(lines, 1)
    ]
    return Batch(1, SESSION, tuple(messages))


def prompt(*lines: tuple[str, str]) -> str:
    spoken = batch(*lines)
    return compose(spoken, PromptContext(people=speakers(spoken)), UTC).prompt


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("我叫小明，喜欢爬山", ["这位用户叫小明", "小明喜欢爬山"]),
        ("我不喜欢早起，集合能不能晚一点", ["阿花不喜欢早起"]),
        ("对了，我搬到上海了", ["阿花住在上海"]),
        ("我对花生过敏，点外卖总要问一句", ["阿花对花生过敏"]),
        ("我叫张三，是后端工程师", ["这位用户叫张三", "张三是后端工程师"]),
        ("我们组用 Docker 部署微服务", ["Docker用来部署微服务"]),
        ("My name is Ann. I like tea", ["The user is called Ann", "Ann likes tea"]),
        ("我喜欢什么？", []),
        ("你喜欢我吗", []),
        ("今天天气真好", []),
    ],
)
def test_statements_are_found(text: str, statements: list[str]) -> None:
    found = extract(prompt(("webchat:阿花", text), (BOT, "我喜欢喝茶")))
    assert [fact["statement"] for fact in found["facts"]] == statements
    assert found["worth"] is bool(statements)
    assert all(fact["evidence"] == [1] for fact in found["facts"])


def test_a_name_that_is_known_is_no_news() -> None:
    found = extract(prompt(("webchat:小明", "我叫小明，我喜欢爬山")))
    assert [fact["statement"] for fact in found["facts"]] == ["小明喜欢爬山"]


def test_everybody_is_quoted_under_their_own_label() -> None:
    found = extract(prompt(("webchat:小明", "我住在杭州"), ("webchat:小红", "我喜欢爬山")))
    facts = [(fact["subject"], fact["statement"]) for fact in found["facts"]]
    assert facts == [("U1", "小明住在杭州"), ("U2", "小红喜欢爬山")]


def test_the_plugin_understands_every_answer() -> None:
    call = ChatCall({"messages": [{"role": "user", "content": prompt(("webchat:a", "我喜欢茶"))}]})
    answer = learn(call)
    assert answer.name == TOOL.name
    extraction = parse(Answer("", answer.arguments))
    assert [fact.statement for fact in extraction.facts] == ["a喜欢茶"]
    assert {rule.predicate for rule in RULES} <= set(PREDICATES)


def test_only_the_injected_block_is_read_out() -> None:
    block = "<memories>\n以下是资料\n相关的事:\n- 2026-11-22 小明喜欢爬山\n</memories>"
    assert memory_lines(block) == ["2026-11-22 小明喜欢爬山"]
    assert memory_lines("<system_reminder>\n- now\n</system_reminder>") == []
