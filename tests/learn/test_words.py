"""Words that ask to remember."""

from __future__ import annotations

import pytest

from graph_memory.learn.batching import asks_to_remember, without_request


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("记住，我对花生过敏", "我对花生过敏"),
        ("请帮我记一下：周五交房租", "周五交房租"),
        ("你一定要记住我的生日是5月3日！", "我的生日是5月3日！"),
        ("@小美 别忘了明天开会", "明天开会"),
        ("Remember that I am allergic to nuts", "I am allergic to nuts"),
        ("please remember: rent is due", "rent is due"),
        ("Don’t forget the milk", "the milk"),
        ("记住", "记住"),
    ],
)
def test_requests_to_remember(text: str, rest: str):
    assert asks_to_remember(text)
    assert without_request(text) == rest


@pytest.mark.parametrize(
    "text",
    ["你还记得我吗", "记得吗？", "我记住了", "remember when we met?", "I don't remember", ""],
)
def test_talk_about_remembering(text: str):
    assert not asks_to_remember(text)
    assert without_request(text) == text
