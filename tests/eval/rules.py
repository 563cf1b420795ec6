"""An extractor made of rules, in the place of a language model.

It answers the product's own prompt and sees what a model would see: the numbered messages
and the known items, nothing else. What it recognises are statements of the kind "somebody's
something is so" in Chinese; any other message becomes a fact word for word. What it says
again is what a known item shows already: the same statement, or nearly the same words (a
model's judgement, for which this stands; the product itself merges nothing by likeness).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from graph_memory.ports import Answer, ToolSchema

ALIKE = 0.4
ALIKE_LONG = 0.25
"""Share of character pairs in common from which two statements say the same."""
LONG = 30
"""Characters from which what no rule fits is somebody's opinion of something."""
OPINION = "评价"
SEEN = 80
"""Characters by which a statement is known again, which a prompt may have cut."""

_RELATION = (
    "表弟|表妹|表哥|表姐|堂弟|堂妹|堂哥|堂姐|上司|下属|同事|母亲|父亲|妈妈|爸爸|舅舅|舅妈|姑姑|姑父"
    "|叔叔|婶婶|阿姨|哥哥|姐姐|弟弟|妹妹|妻子|丈夫"
)
_RELATIVES = frozenset(_RELATION.split("|"))
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许"
_SAME_RELATION = {"妈妈": "母亲", "爸爸": "父亲"}
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
_ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("生日", "birthday", r"生日|过生日|出生"),
    ("邮箱", "other", r"邮箱"),
    ("电话", "other", r"电话|手机号|联系方式|号码"),
    ("身高", "other", r"身高|个子|厘米|\dcm"),
    ("年龄", "age", r"年龄|\d岁"),
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
_DEGREES = ("博士", "硕士", "本科", "专科", "高中", "初中")
_LINE = re.compile(
    r"^\[(?P<number>\d+)\] \d\d:\d\d U\d+ (?P<name>[^:]*): (?P<text>.*)$", re.MULTILINE
)
_KNOWN = re.compile(r"^(?P<number>\d+)\. \S+ (?P<label>\S+) \w+: (?P<text>.*)$", re.MULTILINE)
_THING = re.compile(r"^(?P<label>E\d+) (?P<name>.*) \(\w+\)$", re.MULTILINE)
_BEFORE = re.compile(
    r"^(?:名称|名字|背景|地址|号码|是|有|在|叫做?|做|就|的|个|爱好|喜欢|他|她|，|那|位|号|\s)+"
)
_CLAUSE = re.compile("[，。；]")
_AFTER = re.compile(r"(?:的|呢|了|哦|吧|这行|工作|那边|人|，|。|！|\s)+$")


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


class RuleModel:
    """A language model that knows a few rules.

    Attributes:
        calls: How often it was asked.
        offered: In how many answers it could point at a known item.
        shown: What was known beside a statement when it was answered, or answered with it,
            by (who said it, statement).
    """

    def __init__(self) -> None:
        self.calls = 0
        self.offered = 0
        self.shown: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """The answer to a prompt of ``learn/prompt.py``."""
        self.calls += 1
        return Answer("", self._answer(prompt), 1, 1)

    def has_seen(self, who: str, statements: Collection[str]) -> bool:
        """Whether each of some statements but the first was answered with another one of
        them before its eyes."""
        seen = 0
        for statement in statements:
            beside = {known[:SEEN] for known in self.shown[who, statement]}
            seen += any(each[:SEEN] in beside for each in statements if each != statement)
        return seen >= len(statements) - 1

    def _answer(self, prompt: str) -> dict[str, Any]:
        known, _, chat = prompt.rpartition("<chat>")
        names = {m["label"]: _names(m["name"]) for m in _THING.finditer(known)}
        standing = {
            int(m["number"]): (names.get(m["label"], set()), m["text"].rstrip("。…"))
            for m in _KNOWN.finditer(known)
        }
        claims: list[tuple[Claim, list[str]]] = []
        who = ""
        entities: dict[str, dict[str, Any]] = {}
        restated: set[int] = set()
        for line in _LINE.finditer(chat):
            claim, who = claimed(line["text"]), line["name"]
            if claim.holder:
                kind = "person" if claim.is_person else "event"
                entity = {"id": f"E{90 + len(entities)}", "name": claim.holder, "type": kind}
                known_as = entities.setdefault(claim.holder, {**entity, "aliases": ""})
                known_as["aliases"] = claim.alias or known_as["aliases"]
            again = next((n for n, item in standing.items() if says_again(claim, *item)), None)
            said = next(
                (c for c in claims if says_again(claim, {c[0].alias}, c[0].statement)), None
            )
            if again is not None:
                restated.add(again)
            elif said is not None:
                said[1].append(line["number"])
            else:
                claims.append((claim, [line["number"]]))
        beside = {known for _, known in standing.values()} | {c.statement for c, _ in claims}
        for claim, _ in claims:
            self.shown[who, claim.statement] |= beside
        facts = [
            {
                "subject": claim.holder or "U1",
                "predicate": claim.predicate,
                "object": claim.value,
                "statement": claim.statement,
                "evidence": ",".join(numbers),
            }
            for claim, numbers in claims
        ]
        self.offered += bool(restated)
        return {
            "worth": True,
            "summary": "",
            "entities": list(entities.values()),
            "facts": facts,
            "restated": ",".join(map(str, sorted(restated))),
        }


def _names(shown: str) -> set[str]:
    """What a known thing is called; whoever is 张三的同事 is 同事 to who speaks."""
    names = set(shown.split(" / "))
    return names | {name.rpartition("的")[2] for name in names}


def claimed(text: str) -> Claim:
    """What one message states; in its own words if no rule fits."""
    plain = text.rstrip("。！! ")
    if going := _GOING.match(plain):
        return Claim(going[1], "plans", "", plain, "参加", is_person=False)
    in_own_words = Claim("", "other", "", plain, OPINION if len(plain) >= LONG else "")
    found = _HOLDER.match(plain)
    if found is None or len(plain) > 80:
        return in_own_words
    holder, rest = _holder(found), plain[found.end() :]
    for label, predicate, pattern in _ATTRIBUTES:
        seen = re.search(pattern, rest)
        if seen is None:
            continue
        value = _value(label, rest, seen)
        if not value:
            continue
        is_person = not (found["event"] or found["thing"])
        alias = found["named"] or ""
        if label == "关系":  # which says as much as what the person is called
            label, predicate, value = "姓名", "is_named", alias
        if label == "姓名" and found["kin"]:
            alias = value
        statement = f"{holder}的{label}是{value}"
        return Claim(holder, predicate, value, statement, label, is_person, alias)
    return in_own_words


def _holder(found: re.Match[str]) -> str:
    kin = found["role"] or found["kin"]
    if kin:
        return _SAME_RELATION.get(kin, kin)
    holder: str = found["event"] or found["name"] or found["thing"]
    return holder.removesuffix("他").removesuffix("她")


def _value(label: str, rest: str, seen: re.Match[str]) -> str:
    if label == "生日":
        date = re.search(r"(\d+)月(\d+)", rest)
        return f"{int(date[1])}月{int(date[2])}日" if date else ""
    if label in ("身高", "年龄"):
        number = re.search(r"\d+", rest)
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


def may_be_same(one: Claim, other: Claim) -> bool:
    """Whether two claims that rest on the same evidence may be one: a rule that fits both
    would have to name another property or another relative."""
    if not (one.label and other.label):
        return OPINION not in (one.label, other.label)
    relatives = {one.holder, other.holder} & _RELATIVES
    return one.label == other.label and len(relatives) < 2


def says_again(claim: Claim, names: set[str], known: str) -> bool:
    """Whether a claim says what is known about something that goes by some names."""
    other = claimed(known)
    if claim.label != other.label:
        return False
    if claim.holder:
        ours, theirs = {claim.holder, claim.alias} - {""}, {other.holder, *names} - {""}
        places = claim.label in ("工作地", "家乡") and (
            set(claim.value) <= set(other.value) or set(other.value) <= set(claim.value)
        )
        if claim.label in {"电话", "邮箱"}:  # which two people do not share
            return claim.value == other.value
        return (places or _covers(claim.value, other.value)) and (
            bool(ours & theirs) or (not claim.is_person and _agree(claim.holder, other.holder))
        )
    # A known statement may be cut; people tell a thing in the same order again.
    said, told = _pairs(claim.statement[: len(known) * 5 // 4]), _pairs(known)
    enough = ALIKE_LONG if claim.label == OPINION else ALIKE
    return len(said & told) >= enough * max(1, min(len(said), len(told)))


def _agree(one: str, other: str) -> bool:
    """Whether one of two names or values is the other, or a shorter form of it."""
    return one == other or (min(len(one), len(other)) > 1 and (one in other or other in one))


def _covers(one: str, other: str) -> bool:
    """Whether one of two values is the other with something left out."""
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    return _agree(one, other) or (
        2 * len(short) > len(long) and all(letter in rest for letter in short)
    )


def _pairs(text: str) -> set[str]:
    letters = [letter for letter in text if letter.isalnum() and letter not in _EMPTY]
    return {a + b for a, b in pairwise(letters)}
