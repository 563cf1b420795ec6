"""Search of names by a part of them, or by pinyin."""

import pytest

from graph_memory.pinyin import finder
from graph_memory.text import normalise


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("张", "张三"),
        ("zhangsan", "张三"),
        ("Zhang San", "张三"),
        ("zs", "张三"),
        ("zhs", "张三"),
        ("zhangs", "张三"),
        ("san", "张三"),
        ("zengxiaoxian", "曾小贤"),
        ("cengxx", "曾小贤"),
        ("lvbu", "吕布"),
        ("xian", "西安"),
        ("ww老王", "WW老王"),
        ("wlw", "w老王"),
        ("過敏", "过敏"),
        ("过敏", "過敏"),
        ("nas", "家里的 NAS"),
        ("", "谁都行"),
    ],
)
def test_a_name_is_found(typed: str, name: str) -> None:
    assert finder(typed)(normalise(name))


@pytest.mark.parametrize(
    ("typed", "name"),
    [("zhangwu", "张三"), ("sz", "张三"), ("张四", "张三"), ("zs!", "张三"), ("xian", "Xi An")],
)
def test_another_name_is_not(typed: str, name: str) -> None:
    assert not finder(typed)(normalise(name))
