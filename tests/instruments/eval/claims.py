"""What a message states, as rules read it: of whom, which property, which value.

They know statements of the kind "somebody's something is so" in Chinese; what they do not
fit is taken word for word. Two of them say the same if they give one value of one property
of one person, or nearly the same words (a model's judgement, for which this stands; the
product itself merges nothing by likeness).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Set
from dataclasses import dataclass
from itertools import pairwise

ALIKE = 0.4
ALIKE_LONG = 0.25
"""Share of character pairs in common from which two statements say the same."""
LONG = 30
"""Characters from which one word of emphasis makes an opinion of what no rule fits; of
anything shorter, two do."""
WORDS = ("爱好", "职业")
"""Properties whose value is a word of the common language, no name and no number."""
LONGEST = 80
"""Characters up to which a message is read as a whole; of a longer one, the first sentence."""
OPINION, PLAN = "评价", "打算"
"""Of what no rule fits: what somebody thinks of a thing, and what they are about to do."""
CUT = "…"
"""Where a prompt left out the rest of a statement."""

_RELATION = (
    "表弟|表妹|表哥|表姐|堂弟|堂妹|堂哥|堂姐|上司|下属|同事|母亲|父亲|妈妈|爸爸|舅舅|舅妈|姑姑|姑父"
    "|叔叔|婶婶|阿姨|哥哥|姐姐|弟弟|妹妹|妻子|丈夫|妈|爸|老婆|老公|老板|领导|手下"
)
_RELATIVES = frozenset(_RELATION.split("|"))
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许"
_SAME_RELATION = {
    "妈妈": "母亲", "妈": "母亲", "爸爸": "父亲", "爸": "父亲", "老婆": "妻子", "老公": "丈夫",
    "老板": "上司", "领导": "上司", "手下": "下属",
}  # fmt: skip
_HOLDER = re.compile(
    rf"^(?:[^，。]{{2,8}}[，。])?(?:我将要参加的(?P<event>[^，]+)，它的"
    rf"|(?P<named>[^，。的]{{2,4}})是我的(?P<role>{_RELATION})，其"
    rf"|[上下]?(?:我的|我|我那个|我的那个|我的那位|我的一个|我有个)?(?P<kin>{_RELATION})"
    rf"(?:们|他们|她们|他|她)?(?:，(?:他|她)?)?的?"
    rf"|(?P<name>[{_SURNAMES}][^，。的是在她他]{{1,2}})(?:她|他)?(?=的|今年|特别|喜欢|在|是)的?"
    rf"|(?P<thing>[^，。]{{3,20}}?)的(?=(?:地点|时间|持续时间|规模|主要内容|内容)是))"
)
_AT = r"在(?P<place>[^，。]{2,16}?)(?:那块儿|那边)?(?:上班|工作)"
_FIRMS = "司院所局校学行店团厂心馆队社"
_HOME = r"家乡|老家|来自|家(?:是|在)|^(?:是|在)(?=[^，。做干当]{2,6}(?:人|那边的?)$)"
_JOB = r"职业|职位|工作是|干的(?:活儿)?是|是(?:个|一名|一位|位|名|做|干|当)|当|^(?:现在)?是"
_MINE = re.compile(rf"我(?:的|那个)?(?:{_RELATION})")
_ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("生日", "birthday", r"生日|过生日|出生"),
    ("邮箱", "other", r"邮箱"),
    ("电话", "other", r"电话|手机号|联系方式|号码"),
    ("身高", "other", r"身高|个子|厘米|\dcm"),
    ("年龄", "age", r"年龄|[\d一二三四五六七八九十]岁"),
    ("学历", "studies", r"学历|教育背景|学位|本科|硕士|博士|专科|高中|初中"),
    ("单位", "works_at", rf"单位|公司叫|{_AT}"),
    ("持续时间", "other", r"持续时间"),
    ("规模", "other", r"规模"),
    ("地点", "other", r"地点"),
    ("时间", "other", r"时间"),
    ("内容", "other", r"内容"),
    ("工作地", "other", rf"(?:工作|上班)的?地(?:方|儿)?|{_AT}"),
    ("家乡", "from", _HOME),
    ("姓名", "is_named", r"姓名|名字|(?:^|，)(?:他|她)?叫|名叫"),
    ("关系", "other", r"关系"),
    ("性格", "other", r"性格"),
    ("性别", "other", r"性别"),
    ("爱好", "likes", r"兴趣|爱好|喜欢|爱"),
    ("职业", "works_as", _JOB),
)  # fmt: skip
_GOING = re.compile(r"^我将要参加([^，的]{3,20})$")
_EMPTY = frozenset("我你他她它们的地得了着过是在有这那个位名家也都就还很吧呢吗啊和跟与")
"""Characters that are in most sentences, whatever they say."""
_EMPHASIS = re.compile("很|挺|真|太|特别|非常|超级?|十分|相当|极了|有点")
_ADVERB = re.compile("很|挺|特别|非常|十分|相当")
_INTENT = re.compile("打算|准备|计划|想去|要去|将要|即将")
_NOT = re.compile("[不没](?:太|再|怎么|是)?$")
_DIGITS = {digit: str(value) for value, digit in enumerate("零一二三四五六七八九")}
_TENS = re.compile("([一二三四五六七八九]?)十([一二三四五六七八九]?)")
_OTHERWISE = re.compile(r"[不没无未非别想要去到回离]|打算|准备|计划|以前|曾|前任")
"""What makes a sentence about somebody and a value another one."""
_RANK = re.compile("经理|主管|总监|主任|总裁|负责|领班|长$")
"""Whoever is at the head of some is near to one of them in meaning, and not the same."""
_BETWEEN = re.compile("的|(?<=..)(?:以及|或者?是?|[和与跟及兼/、])(?=..)")
"""What may stand between the parts of a value."""
_DEGREES = ("博士", "硕士", "本科", "专科", "高中", "初中")
_BEFORE = re.compile(
    r"^(?:名称|名字|背景|地址|号码|是|有|在|叫做?|做|就|的|个|爱好|喜欢|他|她|，|那|位|号|\s)+"
)
_CLAUSE = re.compile("[，。；]|作为")
_AFTER = re.compile(r"(?:的|呢|了|哦|吧|[这那][一个]?行|工作|那边|人|，|。|！|\s)+$")


Judge = Callable[[str, str], bool]


def never(one: str, other: str) -> bool:
    """Know no synonyms."""
    return False


@dataclass(frozen=True)
class Claim:
    """What a message states: of whom, what, and in which words.

    Attributes:
        label: Which of its properties; empty if no rule fits.
    """

    holder: str
    predicate: str
    value: str
    statement: str
    label: str = ""
    is_person: bool = True
    alias: str = ""


def claimed(text: str, called: Collection[str] = ()) -> Claim:
    """What one message states; in its own words if no rule fits.

    Args:
        called: What those are called who are known: whatever goes before the name of one
            of them, as before 我妈妈, may be left out for a rule to fit.
    """
    plain = text.rstrip("。！! ")
    if going := _GOING.match(plain):
        return Claim(going[1], "plans", "", plain, "参加", is_person=False)
    told = plain if len(plain) <= LONGEST else plain.partition("。")[0]
    for start in _beginnings(told, called) if len(told) <= LONGEST else ():
        if claim := _stated(told[start:]):
            return claim
    return Claim("", "other", "", plain, _manner(plain))


def _manner(plain: str) -> str:
    """Which of an opinion, a plan and anything else is what no rule fits."""
    if len(_EMPHASIS.findall(plain)) >= (1 if len(plain) >= LONG else 2):
        return OPINION
    return PLAN if _INTENT.search(plain) else ""


def _beginnings(plain: str, called: Collection[str]) -> list[int]:
    """Where what is said of somebody may begin; first where the message does."""
    if len(plain) >= LONG:
        return [0]
    spoken = [match.start() for match in _MINE.finditer(plain)]
    named = [plain.find(name) for name in called if len(name) > 1]
    return [0, *sorted(at for at in spoken + named if at > 0)]


def _stated(plain: str) -> Claim | None:
    """What a sentence that begins with whom it is about states, if a rule fits."""
    found = _HOLDER.match(plain)
    if found is None:
        return None
    holder, rest = _holder(found), plain[found.end() :]
    for label, predicate, pattern in _ATTRIBUTES:
        seen = re.search(pattern, rest)
        if seen is None or _NOT.search(rest[: seen.start()]):
            continue
        value = _value(label, rest, seen)
        if not value or _ADVERB.match(value):
            continue
        is_person = not (found["event"] or found["thing"])
        alias = found["named"] or ""
        if label == "关系":  # which says as much as what the person is called
            label, predicate, value = "姓名", "is_named", alias
        if label == "姓名" and found["kin"]:
            alias = value
        statement = f"{holder}的{label}是{value}"
        return Claim(holder, predicate, value, statement, label, is_person, alias)
    return None


def _holder(found: re.Match[str]) -> str:
    kin = found["role"] or found["kin"]
    if kin:
        return _SAME_RELATION.get(kin, kin)
    holder: str = found["event"] or found["name"] or found["thing"]
    return holder.removesuffix("他").removesuffix("她")


def _value(label: str, rest: str, seen: re.Match[str]) -> str:
    if label == "生日":
        date = re.search(r"(\d+)月(\d+)", _arabic(rest))
        return f"{int(date[1])}月{int(date[2])}日" if date else ""
    if label in ("身高", "年龄"):
        number = re.search(r"\d+", _arabic(rest))
        return number[0] if number else ""
    if label in ("邮箱", "电话"):
        address = re.search(r"[\w.@-]{6,}", rest, re.ASCII)
        return address[0] if address else ""
    if label == "学历":
        return next((word for word in _DEGREES if word in rest), "")
    if label in ("工作地", "单位") and seen["place"]:
        is_firm = seen["place"][-1] in _FIRMS
        return seen["place"] if is_firm == (label == "单位") else ""
    if label == "家乡" and rest.startswith("来自"):
        return _AFTER.sub("", rest.removeprefix("来自"))
    return _AFTER.sub("", _CLAUSE.split(_BEFORE.sub("", rest[seen.end() :]))[0])


def _arabic(text: str) -> str:
    """Chinese numbers up to 99 in digits."""
    whole = _TENS.sub(lambda m: f"{_DIGITS.get(m[1], '1')}{_DIGITS.get(m[2], '0')}", text)
    return "".join(_DIGITS.get(letter, letter) for letter in whole)


def may_be_same(one: Claim, other: Claim) -> bool:
    """Whether two claims that rest on the same evidence may be one: a rule that fits both
    would have to name another property or another relative. A plan and what came of it may."""
    if {one.label, other.label} & {"", PLAN}:
        return OPINION not in (one.label, other.label)
    relatives = {one.holder, other.holder} & _RELATIVES
    return one.label == other.label and len(relatives) < 2


def says_again(claim: Claim, names: set[str], known: str, same: Judge = never) -> float:
    """How clearly a claim says what is known about something that goes by some names; 0 if
    it does not.

    Args:
        same: Whether two words of the common language mean the same.
    """
    is_cut, known = known.endswith(CUT), known.rstrip(CUT)
    other = claimed(known)
    if claim.label != other.label:
        return not claim.label and _names_value(claim.statement, {other.holder, *names}, other)
    if not claim.holder:
        return _shares_words(claim, known, is_cut)
    is_value = claim.value == other.value
    if claim.label in {"电话", "邮箱"}:  # which two people do not share
        return is_value
    places = claim.label in ("工作地", "家乡") and (
        set(claim.value) <= set(other.value) or set(other.value) <= set(claim.value)
    )
    ours, theirs = {claim.holder, claim.alias} - {""}, {other.holder, *names} - {""}
    is_one = bool(ours & theirs) or (not claim.is_person and _agree(claim.holder, other.holder))
    is_level = bool(_RANK.search(claim.value)) == bool(_RANK.search(other.value))
    is_word = claim.label in WORDS and is_level and same(claim.value, other.value)
    return is_one and (places or is_word or _covers(claim.value, other.value)) and 1.0 + is_value


def _shares_words(claim: Claim, known: str, is_cut: bool) -> float:
    """The share of words in common, from which on two statements say the same."""
    # People tell a thing in the same order again.
    length = len(known) * 5 // 4 if is_cut else None
    said, told = _pairs(claim.statement[:length]), _pairs(known)
    share = len(said & told) / max(1, min(len(said), len(told)))
    return share if share >= (ALIKE_LONG if claim.label == OPINION else ALIKE) else 0.0


def _names_value(statement: str, names: Set[str], known: Claim) -> bool:
    """Whether a statement that fits no rule names somebody and the value that is known of
    them, and says less besides than the value does."""
    whom = max((n for n in names if len(n) > 1 and n in statement), key=len, default="")
    if not whom or len(known.value) < 4 or known.value not in statement:
        return False
    rest = statement.replace(known.value, "", 1).replace(whom, "", 1)
    is_other = _OTHERWISE.search(rest) is not None
    return not is_other and sum(c.isalnum() and c not in _EMPTY for c in rest) < len(known.value)


def _agree(one: str, other: str) -> bool:
    """Whether one of two names or values is the other, or a shorter form of it."""
    return one == other or (min(len(one), len(other)) > 1 and (one in other or other in one))


def _covers(one: str, other: str) -> bool:
    """Whether one of two values is the other with something left out, however they are
    put together from the same parts."""
    short, long = sorted((_BETWEEN.sub("", one), _BETWEEN.sub("", other)), key=len)
    rest = iter(long)
    return _agree(short, long) or (
        2 * len(short) > len(long) and all(letter in rest for letter in short)
    )


def _pairs(text: str) -> set[str]:
    letters = [letter for letter in text if letter.isalnum() and letter not in _EMPTY]
    return {a + b for a, b in pairwise(letters)}
