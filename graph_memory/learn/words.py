"""Words that mean something to learning, in Chinese and English."""

from __future__ import annotations

import re

from ..model import is_entity, stable_id
from ..text import normalise
from ..visible_rows import SessionRows

_FIRST_TEXT = "我 本人 自己 我自己 俺 咱 i me myself"
_SECOND_TEXT = "你 您 你自己 you yourself"
_NOBODY_TEXT = """
    用户 使用者 发言者 说话人 对方 某人 有人 别人 他人 大家 所有人 群友 群成员 网友 人
    他 她 它 他们 她们 它们 我们 咱们 你们 双方 这 那 这个 那个 未知 无
    user users the-user speaker the-speaker someone somebody everyone everybody people person
    he she it him her they them we us this that unknown none null n/a
"""
_KIN_TEXT = """
    妈妈 妈 母亲 爸爸 爸 父亲 爸妈 父母 爷爷 奶奶 外公 外婆 姥姥 姥爷 哥哥 哥 弟弟 姐姐 姐 妹妹
    儿子 女儿 孩子 孙子 孙女 老公 丈夫 老婆 妻子 男朋友 女朋友 男友 女友 对象 前男友 前女友
    岳父 岳母 公公 婆婆 嫂子 姐夫 妹夫 弟媳 儿媳 女婿 叔叔 婶婶 伯伯 伯父 伯母 舅舅 舅妈
    姑姑 姑妈 姑父 姨妈 姨父 阿姨 表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 侄子 侄女 外甥
    外甥女 室友 同事 同学 老板 领导 上司 下属 手下 导师 老师 闺蜜 邻居 朋友 房东
    mother mom mum father dad parents grandfather grandmother grandpa grandma brother
    sister son daughter child grandson granddaughter husband wife boyfriend girlfriend
    partner uncle aunt cousin nephew niece roommate colleague classmate boss teacher
    neighbor neighbour friend landlord
"""
_ONLY_TEXT = """
    妈妈 妈 母亲 爸爸 爸 父亲 老公 丈夫 老婆 妻子 对象 男朋友 女朋友 男友 女友 岳父 岳母 公公 婆婆
    mother mom mum father dad husband wife boyfriend girlfriend
"""
_SAME_KIN_TEXT = """
    妈妈=妈=母亲 爸爸=爸=父亲 爸妈=父母 外公=姥爷 外婆=姥姥 哥哥=哥 姐姐=姐 老公=丈夫 老婆=妻子
    男朋友=男友 女朋友=女友 姑姑=姑妈 伯伯=伯父 上司=领导 下属=手下
    mother=mom=mum father=dad grandfather=grandpa grandmother=grandma neighbor=neighbour
"""

_BOT_TEXT = """
    机器人 聊天机器人 机器人助手 助手 ai助手 智能助手 人工智能助手
    bot chatbot the-bot assistant the-assistant ai-assistant
"""

FIRST = frozenset(_FIRST_TEXT.split())
"""The speaker."""
SECOND = frozenset(_SECOND_TEXT.split())
"""Whoever is spoken to."""
NOBODY = frozenset(word.replace("-", " ") for word in _NOBODY_TEXT.split())
"""Nobody in particular; these never become nodes."""
BOT_WORDS = frozenset(word.replace("-", " ") for word in _BOT_TEXT.split())
"""The bot, where somebody is meant; as a thing that is spoken of, nobody in particular."""
KIN = frozenset(_KIN_TEXT.split())
"""Somebody only together with whose they are."""
ONLY = frozenset(_ONLY_TEXT.split())
"""Those of :data:`KIN` of whom one has one: under two names they are the same person."""

_SAME_KIN = {
    word: words.partition("=")[0] for words in _SAME_KIN_TEXT.split() for word in words.split("=")
}
_WITH_ME = {word: word if len(word) > 1 else f"我{word}" for word in KIN}
_NUMBERED = re.compile(r"(?:用户|使用者|发言者|说话人|群友|user|speaker)[ _#]?[0-9a-z甲乙丙丁]")
"""Nobody in particular, told apart from others."""
_REMEMBER = re.compile(
    r"\s*(?:@\S+\s+)?(?:"
    r"(?:请|帮我|麻烦你?|你要|你?一定要|给我)*(?:记住|记一下|记下来?|别忘了?|不要忘了?)"
    r"|(?:please\s+)?(?:remember\s*(?:that\b|this\b|my\b|i\b|:|,)|don['’]?t forget\b|note that\b"
    r"|keep in mind\b))[\s:：,，。.!！]*",
    re.IGNORECASE,
)


def kin(circle: str, user: str, word: str) -> str:
    """Id of somebody's mother, boss …: one for each person in each chat window.

    Args:
        word: One of :data:`KIN`; 妈妈 and 母亲 are one.
    """
    return stable_id("e", f"{circle}\x1e{user}", _SAME_KIN.get(word, word))


def of(name: str, word: str) -> str:
    """What somebody's mother, boss … is called with whose they are.

    Args:
        name: Of that somebody; empty: the word alone.
    """
    full = f"{name}'s {word}" if word.isascii() else f"{name}的{word}"
    return full if name else word


def relative(visible: SessionRows, user: str, word: str) -> str | None:
    """Who is known as somebody's mother, boss …; ``None`` if nobody is.

    That is a person of their own, or one who was known by name before it was said what
    they are to that somebody.

    Args:
        word: One of :data:`KIN`.
    """
    own = visible.canonical(kin(visible.here.circle, user, word))
    if visible.called(own) is not None:
        return own
    # By the names that nobody else in this chat window bears.
    names = (n for n in visible.norms(user) if len(visible.bearers(n, seen=True)) == 1)
    found = {
        visible.canonical(name.node)
        for called in names
        for each in same_kin(word)
        for name in visible.names(normalise(of(called, each)))
        if is_entity(name.node) and visible.is_same_circle(name.session)
    }
    return found.pop() if len(found) == 1 else None


def same_kin(word: str) -> set[str]:
    """The words for the same relative, the word included: 妈妈 for 母亲."""
    first = _SAME_KIN.get(word, word)
    return {word, *(other for other, same in _SAME_KIN.items() if same == first)}


def kin_in(text: str) -> list[str]:
    """The words of :data:`KIN` in a normalised text; a single character only after 我."""
    return sorted(
        word
        for word in KIN
        if (re.search(rf"\b{word}\b", text) if word.isascii() else _WITH_ME[word] in text)
    )


def asks_to_remember(text: str) -> bool:
    """Whether a message begins by asking to remember something."""
    return _REMEMBER.match(text) is not None


def without_request(text: str) -> str:
    """What is to be remembered: ``text`` without the words that ask for it."""
    found = _REMEMBER.match(text)
    return (text[found.end() :].strip() or text) if found else text


def is_generic(norm: str) -> bool:
    """Whether a normalised name is a word for anybody."""
    words = (NOBODY, FIRST, SECOND, BOT_WORDS)
    return any(norm in known for known in words) or _NUMBERED.fullmatch(norm) is not None
