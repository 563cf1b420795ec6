"""Kinship terms and other words for people by what they are to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TABLE = """
    !妈妈=妈,母亲,老妈,妈咪,娘,老娘 !爸爸=爸,父亲,老爸,爹,老爹 爸妈=父母,爹妈
    爷爷=爷,祖父 奶奶=奶,祖母 外公=姥爷,外祖父 外婆=姥姥,外祖母
    哥哥=哥,老哥 弟弟=弟,老弟 姐姐=姐,老姐 妹妹=妹,老妹
    儿子=儿 女儿=闺女 孩子=娃,小孩 孙子 孙女 外孙 外孙女
    !老公=丈夫 !老婆=妻子,媳妇,太太 !男朋友=男友 !女朋友=女友 !对象 前男友 前女友 前夫 前妻
    !未婚夫 !未婚妻 !岳父=丈人,老丈人 !岳母=丈母娘 !公公 !婆婆
    嫂子=嫂,嫂嫂 姐夫 妹夫 弟媳=弟妹 儿媳=儿媳妇 女婿
    大舅子 小舅子 大姨子 小姨子 大姑子 小姑子 小叔子
    叔叔=叔 婶婶=婶 伯伯=伯父,大伯 伯母=大妈 舅舅=舅 舅妈 姑姑=姑妈,姑 姑父=姑夫
    姨妈=姨 姨父 阿姨 二叔 三叔 大舅 二舅 小舅 大姑 小姑 大姨 二姨 小姨
    表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 侄子 侄女 外甥 外甥女
    室友=舍友 同事 同学 老板 领导=上司 下属=手下 导师 老师 师父=师傅 闺蜜 发小 邻居 朋友 房东
    !mother=mom,mum,mommy,mummy,mama !father=dad,daddy,papa parents
    grandfather=grandpa,granddad,gramps grandmother=grandma,granny,gran,nana
    brother=bro sister=sis son daughter child=kid grandson granddaughter grandchild
    !husband=hubby !wife !boyfriend !girlfriend !fiance=fiancé !fiancee=fiancée
    ex-husband ex-wife ex-boyfriend ex-girlfriend partner
    !mother-in-law !father-in-law brother-in-law sister-in-law son-in-law daughter-in-law
    uncle aunt=auntie cousin nephew niece stepmother=stepmom stepfather=stepdad
    stepbrother stepsister roommate=flatmate colleague=coworker classmate boss teacher
    neighbor=neighbour friend landlord
"""
_GROUPS = [line.replace("=", ",").split(",") for line in _TABLE.split()]
_FIRST = {word.strip("!"): words[0].strip("!") for words in _GROUPS for word in words}
KIN = frozenset(_FIRST)
"""Somebody only together with whose they are."""
ONLY = frozenset(w.strip("!") for words in _GROUPS if words[0][0] == "!" for w in words)
"""Those of :data:`KIN` of whom one has one: under two names they are the same person."""
_MINE = re.compile(r"(?:我家的?|我的?|俺|my )(?:亲|(?:kid|little|big|baby|younger|older|elder) )?")
_SPOKEN = {word: word if len(word) > 1 else f"我{word}" for word in KIN}
"""What a text says if it has the word in it."""


def first_word(word: str) -> str:
    """The usual word for the same relative: 妈妈 for 老妈."""
    return _FIRST.get(word, word)


def same_kin(word: str) -> set[str]:
    """The words for the same relative, the word included: 妈妈 for 母亲."""
    first = first_word(word)
    return {word, *(other for other, usual in _FIRST.items() if usual == first)}


def kin_in(text: str) -> list[str]:
    """The words of :data:`KIN` in a normalised text; a single character only after 我."""
    found = [word for word, spoken in _SPOKEN.items() if spoken in text]
    return sorted(word for word in found if not word[0].isascii() or _is_whole(word, text))


def _is_whole(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){word}(?![\w-])", text) is not None


def kin_words(names: Iterable[str]) -> set[str]:
    """What somebody who is called 张三的妈妈 is called where that is clear: 妈妈, 母亲."""
    ends = {re.split(r"的|['’]s ", name)[-1] for name in names}
    return {word for end in ends & KIN for word in same_kin(end)}


def without_mine(norm: str) -> str:
    """A normalised reference without 我的 or "my kid" before a word of :data:`KIN`."""
    rest = _MINE.sub("", norm, count=1) if _MINE.match(norm) else norm
    return rest if rest in KIN else norm


def of(name: str, word: str) -> str:
    """What the mother, boss … of somebody (by name, if any) is called."""
    full = f"{name}'s {word}" if word.isascii() else f"{name}的{word}"
    return full if name else word


def is_said(statement: str, names: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a statement tells of a mother, sister … of somebody of some names."""
    whose, what = "|".join(map(re.escape, names)), "|".join(words)
    said = rf"(?i)(?:{whose})(?:的.?|['’]s (?:\w+ )?)(?:{what})(?![\w-]*[a-z])"
    return re.search(said, statement) is not None
