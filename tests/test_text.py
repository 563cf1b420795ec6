"""Text handling with Chinese, emoji and hostile input."""

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from inspect import signature
from itertools import product

import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from graph_memory import service  # noqa: F401 - with all that keeps something of texts
from graph_memory.kinship import is_said
from graph_memory.pinyin import sound
from graph_memory.privacy.confidence import asks_to_keep
from graph_memory.text import (
    characters,
    clean,
    clean_name,
    forget,
    is_chinese,
    normalise,
    one_line,
    terms,
    tokens,
    told_apart,
)
from tests.cases import tabled

anything = st.text(st.characters(codec=None))


def test_clean_removes_what_breaks_stores_and_keeps_what_people_write():
    assert clean("a\ud800b\x00\r\nc\u202ed") == "ab\ncd"
    assert clean("  家人👨‍👩‍👧来了  ") == "家人👨‍👩‍👧来了"
    assert clean("啊" * 9000) == "啊" * 7999 + "…"


@tabled
def test_what_nobody_sees_is_taken_out_of_texts(text: str, seen: str):
    assert clean(text) == seen


@given(anything)
def test_cleaned_text_can_be_stored_and_cleaning_is_idempotent(text: str):
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")
    with sqlite3.connect(":memory:") as db:
        assert db.execute("SELECT ?", (once,)).fetchone() == (once,)
    db.close()


def test_names_compare_by_what_people_see():
    assert normalise("  Ｐｙｔｈｏｎ   Web ") == normalise("python web")
    assert normalise("张三") != normalise("张四")
    assert normalise("小明😀") == "小明😀"
    assert normalise("张三") == normalise("张\u200d三\ufe0f") == normalise("张三\U000e0041\u3164")


def test_people_of_one_name_are_told_apart_by_as_little_as_does():
    assert told_apart("小红", "qq:10042", []) == "小红"
    assert told_apart("小红", "qq:10042", ["qq:9"]) == "小红(0042)"
    assert told_apart("小红", "qq:10042", ["qq:30042", "qq:9"]) == "小红(10042)"
    assert told_apart("小红", "qq:42", ["qq:1042"]) == "小红(42)"
    assert told_apart("小红", "webchat:a(b)\n", ["webchat:c"]) == "小红(ab)"


def test_characters_are_those_of_words_without_borders():
    assert characters("我的iPhone 14ＡＢ掉了，오늘！") == [*"我的掉了오늘"]


def test_terms_are_chinese_bigrams_and_english_stems():
    assert terms("我喜欢爬山") == ["我喜", "喜欢", "欢爬", "爬山"]
    assert terms("She was running in the shops") == terms("run shop")
    assert terms("买了3斤C++和iPhone15") == ["买了", "3", "斤", "c", "和", "iphone15"]
    assert terms("，。！😀") == []


@given(anything)
def test_terms_never_fail(text: str):
    assert all(term and term == term.casefold() for term in terms(text))


@tabled
def test_language(text: str, chinese: bool):
    assert is_chinese(text) is chinese


def test_token_estimate_is_on_the_safe_side():
    assert tokens("今天天气真好，我们去爬山吧！") >= 14
    assert tokens("The quick brown fox jumps over the lazy dog.") >= 10


def test_one_line():
    assert one_line("第一行\n第二行\t末尾", 50) == "第一行 第二行 末尾"
    assert len(one_line("长" * 100, 10)) == 10


def test_words_are_read_alike_while_another_thread_reads_others():
    """A question is read on the event loop while its thread enters rows into the index."""
    beginnings = map("".join, product("bdgpt", "aeiou", "lmnr", "aei", "dkt"))
    words = [each + end for each in beginnings for end in ("ingly", "ations", "iveness", "ied")]
    stemmer = snowballstemmer.stemmer("english")
    expected = [stemmer.stemWord(word) for word in words]
    halves = words[::2], words[1::2]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as threads:
            one, two = threads.map(terms, map(" ".join, halves))
    finally:
        sys.setswitchinterval(interval)
    assert (one, two) == (expected[::2], expected[1::2])


def test_nothing_is_kept_of_texts_once_one_is_to_be_forgotten():
    """But for single characters, of which nothing follows."""
    texts = [
        cache
        for name, module in sys.modules.items()
        for cache in vars(module).values()
        if name.startswith("graph_memory.")
        and isinstance(cache, type(lru_cache(str)))
        and cache.__module__.startswith("graph_memory.")
        and cache.cache_parameters()["maxsize"]
        and signature(cache).parameters
    ]
    assert asks_to_keep("别告诉别人，我怀孕了")
    assert is_said("小红的妈妈来了", ["小红"], ["妈妈"])
    assert terms(sound(clean_name("小红")))
    assert len([cache for cache in texts if cache.cache_info().currsize]) > 5
    forget()
    assert not [cache.__qualname__ for cache in texts if cache.cache_info().currsize]
