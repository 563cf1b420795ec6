"""Whether two facts about the same say the same, as far as words alone can tell (pure).

Nothing here is likeness: two sentences are the same if they are equal once everything that
has several names goes by one of them, if what one adds is on a closed list of words that
add nothing, or if two values are one value written in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ..text import normalise, terms
from .words import KIN, same_kin

_ENDS = "。.!?,;~、 "
"""What may follow a sentence, normalised; nothing else, as C is not C++."""
_SHORTEST = 2
"""Names of one character are part of other words."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_SIGN = re.compile(r"[^\w\s。.!?,;:、~\x1f]+")

_NOTHING = frozenset("的了呢吧啊哦呀嘛是很挺太真蛮超特别非常十分也都还就又最个一位名这那他她它")
"""Characters that add nothing to what is said of somebody."""
_NEITHER = frozenset(terms("very really also quite still"))
_NOT = re.compile(r"[不没无未否]|(?<!特)别|非(?!常)|\b(?:not|no|never|none|hardly)\b|n['’]t\b")
_SAID_BY = {
    "likes": "喜欢爱好热衷钟 like love enjoy",
    "works_as": "职业工作做当担任干行 work",
    "works_at": "在上班工作就职单位 work",
    "studies": "在学习读念 studi",
    "allergic_to": "对会过敏 allerg",
    "owns": "有 own has",
    "has_pet": "养有宠物只 pet own has",
    "skilled_in": "会擅长精通 good skill",
    "friend_of": "和跟与是好朋友 friend",
}
"""Predicates whose object is what there is to say, with words that say no more than the
predicate does."""
_PRED_WORDS = {name: frozenset(_HAN.findall(t)) | {*terms(t)} for name, t in _SAID_BY.items()}
_DIGITS = {digit: str(value) for value, digit in enumerate("零一二三四五六七八九")} | {"两": "2"}
_TENS = re.compile(r"([一二三四五六七八九]?)十([一二三四五六七八九]?)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAY = re.compile(
    r"(?:(?P<year>\d{4})[年/.-])?(?P<month>\d{1,2})(?:月|[/.-])(?P<day>\d{1,2})(?!\d)"
)
_SPOKEN_DAY = re.compile(
    rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?"
)
_VAGUE = re.compile(r"[多几余约左右快近将]|about|almost|nearly|over")
_RANK = re.compile(r"(?:省|市|自治区|特别行政区)(?=.)|(?:省|市|县|区)$|^中国")
_STREETS = "路街道巷弄里园苑城村湾"
"""What is called after a town, and ends like this, need not be in it."""


def gist(statement: str, names: Iterable[str] = ()) -> str:
    """A sentence without what does not change its meaning.

    Args:
        names: Those of what it is about, normalised; whichever is used, it is the same.
    """
    text = normalise(statement).rstrip(_ENDS)
    for name in sorted({*names}, key=lambda name: (-len(name), name)):
        text = _without(text, name)
    return text


def says_no_more(predicate: str, new: str, old: str) -> bool:
    """Whether a sentence adds nothing to another one that states the same predicate of
    the same two.

    Args:
        new, old: From :func:`gist`, without the names of either.
    """
    if predicate not in _PRED_WORDS:
        return False
    added, there = _words(predicate, new), _words(predicate, old)
    # What only the older one says may not be left out if it is the rest of a name (C++).
    is_less = added <= there and not any(_SIGN.match(word) for word in there - added)
    return is_less and len(_NOT.findall(new)) == len(_NOT.findall(old))


def same_value(predicate: str, new: str, old: str) -> bool:
    """Whether a value of a predicate that has one value says nothing but an older one.

    A place that is a part of the older one's name (杭州 or 浙江 after 浙江杭州) is no other
    place; the reverse says more, and is another value.
    """
    find = _VALUES.get(predicate)
    if not (find and new and old):
        return False
    one, other = find(new), find(old)
    if predicate in ("lives_in", "from"):
        return one == other or _is_part(one, other)
    return bool(one) and one == other


def kin_words(names: Iterable[str]) -> set[str]:
    """What somebody who is called 张三的妈妈 is called where that is clear: 妈妈, 母亲."""
    ends = {re.split(r"的|['’]s ", name)[-1] for name in names}
    return {word for end in ends & KIN for word in same_kin(end)}


def _without(text: str, name: str) -> str:
    if len(name) < _SHORTEST:
        return text
    if name.isascii():
        return re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", "\x1f", text)
    return text.replace(name, "\x1f")


def _words(predicate: str, text: str) -> set[str]:
    """Characters, signs and words that say something beside the predicate."""
    said = {*_HAN.findall(text), *_SIGN.findall(text)}
    said |= {word for word in terms(text) if not _HAN.match(word)}
    return said - _NOTHING - _NEITHER - _PRED_WORDS[predicate]


def _age(text: str) -> str:
    norm = _arabic(normalise(text))
    found = re.findall(r"\d+", norm)
    return found[0] if len(found) == 1 and not _VAGUE.search(norm) else norm


def _birthday(text: str) -> str:
    norm = _arabic(normalise(text))
    found = _DAY.search(norm) or _SPOKEN_DAY.search(norm)
    if found is None or "农历" in norm or "阴历" in norm:
        return norm
    month = found["month"]
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    return f"{found['year'] or ''}-{number}-{int(found['day'])}"


def _place(text: str) -> str:
    return _RANK.sub("", normalise(text).replace(" ", "").rstrip(_ENDS))


def _is_part(one: str, other: str) -> bool:
    """Whether one place is one end of another one's name, and not what that is called after."""
    begins, ends = other.startswith(one), other.endswith(one)
    if min(len(one), len(other) - len(one)) < _SHORTEST or not _HAN.search(one):
        return False
    return ends or (begins and other[-1] not in _STREETS)


def _arabic(text: str) -> str:
    """Chinese numbers up to 99 in digits."""
    whole = _TENS.sub(lambda m: f"{_DIGITS.get(m[1], '1')}{_DIGITS.get(m[2], '0')}", text)
    return "".join(_DIGITS.get(letter, letter) for letter in whole)


_VALUES: dict[str, Callable[[str], str]] = {
    "age": _age,
    "birthday": _birthday,
    "lives_in": _place,
    "from": _place,
}
