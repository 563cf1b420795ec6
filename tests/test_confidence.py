"""Requests to keep something to oneself are heard, and talk about secrets is not."""

from __future__ import annotations

import pytest

from graph_memory.confidence import asks_to_keep


@pytest.mark.parametrize(
    "text",
    [
        "我在看心理医生，别告诉别人", "这事你不要跟大鹏说出去", "千万别让王浩知道",
        "不能让她知道这个惊喜",
        "帮我保密", "先瞒着他", "我不希望同事知道", "这是我们的秘密", "先别声张", "记得保密哦",
        "Don't tell anyone, but I'm pregnant", "please keep it secret", "just between you and me",
        "nobody should know", "never tell him", "keep this between us",
    ],
)  # fmt: skip
def test_what_is_told_in_confidence(text: str):
    assert asks_to_keep(text)


@pytest.mark.parametrize(
    "text",
    [
        "今天别迟到", "告诉大家我到了", "保密协议怎么写", "不知道", "别说了", "秘密花园这本书好看",
        "don't tell me you forgot", "tell everyone", "I can keep a secret", "", "你别告诉我又加班",
    ],
)  # fmt: skip
def test_what_is_not(text: str):
    assert not asks_to_keep(text)
