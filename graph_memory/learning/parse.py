"""Parsing of a model's answer into claims, however broken it is.

An answer is lines of parts (see ``prompt.py``), in a call of the tool, in JSON or bare; objects
instead of lines are read as well. ``json-repair`` mends the syntax, this module the types. An
item that cannot be used is left out. Nothing in a claim is trusted: ``resolver.py`` decides.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..errors import ExtractionError, Failure
from ..inference import Answer
from ..locales import in_all
from ..model import PREDICATES, EntityType
from ..text import normalise, one_line

MAX_ANSWER = 30_000
"""Characters of an answer; an honest one has a third of that."""
MAX_OPENED = 500
"""Brackets that an answer opens. ``json-repair`` reads on to the end for each that is not
closed, so its time is theirs times the answer's length: half a second with so many."""
MIN_VARIETY = 0.02
"""What an answer must be compressed to at least; an honest one comes to a tenth."""
MAX_FACTS = 40
MAX_ENTITIES = 60
MAX_NUMBERS = 200
MAX_NAME = 64
MAX_SENTENCE = 300
MAX_KEYWORDS = 160

_MARKS = frozenset({"summary", "restated", "ended", "used"})
_LISTS = frozenset({"facts", "entities"})
_AROUND = _LISTS | {"lines", "known"}
"""Fields that hold others."""
_KEYS = _MARKS | _AROUND | {"worth"}
_ENTITY = ("id", "name", "type", "aliases")
_FACT = (
    "subject", "predicate", "object", "evidence", "date", "importance", "marks", "keywords",
    "statement",
)  # fmt: skip
_COLUMNS = ["主", "谓词", "宾", "消息", "日期", "重要度", "标记", "检索词", "陈述", "messages"]
_FIELD = dict(zip(_COLUMNS, (*_FACT, "evidence"), strict=True))
"""Fields of a fact by what the prompt calls them, which models that write objects do as well."""
_SPLIT = re.compile(r"[|｜]")
_COAT = re.compile(r'^\d{1,2}(?:[.)）]\s|、)\s*|^"(.*)",?$')
"""What numbered lines begin with, and quotes around a line of a list."""
_NONE = re.compile(
    r"\W*(?:(?:没有|暂?无)(?:新的?)?(?:体会|变化|内容)?|不变|同上|空|none|null|nothing|n/a"
    r"|no change|unchanged|same as before|summary)\W*",
    re.IGNORECASE,
)
"""What models write for nothing where they were to write nothing."""
_NOTHING = re.compile(
    r".{0,20}?(?:(?:没有?|无需|不需要|暂无).{0,8}(?:记[住忆录得的]|需要记|保存|新的?(?:信息|内容|事实))"
    r"|\bno(?:thing)?\b.{0,12}(?:to (?:remember|memori|sav)|worth|new (?:fact|memor|information)))",
    re.IGNORECASE,
)
"""How models say that there is nothing to remember, though they were to say no line."""
_SUMMARY = re.compile(r"^(?:summary|摘要|总结)\s*[:：|｜]", re.IGNORECASE)
_JSON = re.compile(r'\s*(?:\{|\[\s*["\[{])')
_ONE_AFTER_ANOTHER = re.compile(r"\}\s+\{")
"""Between objects of which no list is made."""
_REPLACES = re.compile(r">\s*([0-9]{1,6}(?:\s*[,，、]\s*[0-9]{1,6})*)")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])(?<!^-)(?<![^0-9]-)([0-9]{1,6})(?![0-9])")
"""No part of a word, and not below zero: models write -1 for none."""
_PAIR = re.compile(rf"{_NUMBER.pattern}(?:\s*[:：@]\s*\[?([0-9]{{1,6}})(?![0-9]))?")
"""A known fact, and the message that speaks of it."""
_FLAGS = {
    words.partition("|")[0]: re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    for words in ("past|以前是?", "hearsay|[听聽][说說]", "secret|要?保密|是[惊驚]喜")
}
"""Marks, also in the words by which the prompt explains them."""
_LABEL = re.compile(r"\W*[EU]\D{0,2}\d", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,，、;；/|]")
_SPACED = re.compile(r"[\s,，、;；/]+")
_YES = frozenset({"true", "yes", "y", "1", "是", "有", "对"})
_PREDICATES = {
    normalise(text): name for name in PREDICATES for text in in_all(f"predicate.{name}").values()
}
"""Predicates by what people call them, as models do."""
_TYPE_TEXT = """
    person=people,human,人,人物 place=location,city,country,地点,地方
    organization=organisation,org,company,组织,公司 thing=object,product,food,物品
    animal=pet,动物,宠物 work=book,movie,song,作品 event=活动,事件
"""
_TYPES = {type.value: type for type in EntityType} | {
    word: EntityType(line.partition("=")[0])
    for line in _TYPE_TEXT.split()
    for word in line.partition("=")[2].split(",")
}


@dataclass(frozen=True, slots=True)
class EntityClaim:
    """Something that facts are about; ``id`` is the label the model gave it (``E3``)."""

    id: str
    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactClaim:
    """One fact.

    Attributes:
        subject, object: Labels (``U1``, ``BOT``, ``E3``) or names.
        importance: 0…1.
        evidence: Numbers of messages in the batch, from 1.
        date: When it began or happened, as the model wrote it.
        past: It is over.
        hearsay: The speaker had it from others.
        secret: The speaker wants it kept between those who are there.
        replaces: Numbers of known facts that it replaces.
        keywords: Words that it lacks and a question to ask it by, with spaces between them.
    """

    subject: str
    predicate: str
    object: str
    statement: str
    importance: float = 0.5
    evidence: tuple[int, ...] = ()
    date: str = ""
    past: bool = False
    hearsay: bool = False
    secret: bool = False
    replaces: tuple[int, ...] = ()
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """A whole answer.

    Attributes:
        summaries: Of each conversation, in order.
        restated, ended: Messages that say so by numbers of known facts; 0 for none named.
        used: Numbers of known facts.
        extra: Fields that an extension asked for, as the model gave them.
    """

    summaries: tuple[str, ...] = ()
    entities: tuple[EntityClaim, ...] = ()
    facts: tuple[FactClaim, ...] = ()
    restated: Mapping[int, int] = field(default_factory=dict)
    used: tuple[int, ...] = ()
    ended: Mapping[int, int] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> set[int]:
        """Numbers of all known facts that are put to use."""
        replaced = (number for claim in self.facts for number in claim.replaces)
        return {*self.restated, *self.ended, *self.used, *replaced}


def parse(
    answer: Answer, extra: Collection[str] = (), relations: Collection[str] = ()
) -> Extraction:
    """The claims of an answer.

    Args:
        extra: Fields that an extension asked for; what they say is handed on as it is.
        relations: Predicates beside :data:`PREDICATES`.

    Raises:
        ExtractionError: There is nothing in it that could be used, or it has no end.
    """
    keys = _KEYS.union(extra)
    told = [*_told(answer.arguments, keys)] or [*_told(answer.text, keys)]
    is_empty = {key for key, _ in told} <= {"entities"}  # so does a table or an error look
    if is_empty and not (_NONE.fullmatch(answer.text) or _NOTHING.match(answer.text)):
        raise ExtractionError("the model answered neither lines nor JSON", Failure.NO_JSON)
    found: dict[str, list[Any]] = defaultdict(list)
    for key, value in told:
        found[key] += [value] if key in extra else many(value)
    if found["worth"] and not _is_yes(found["worth"][0]):
        found |= {key: [] for key in (*_LISTS, "summary")}
    read = partial(_fact, predicates={*PREDICATES, *relations})
    summed = (sentence_of(each, MAX_SENTENCE) for each in found["summary"][:MAX_NUMBERS])
    return Extraction(
        summaries=tuple(filter(None, summed)),
        entities=tuple(filter(None, map(_entity, found["entities"])))[:MAX_ENTITIES],
        facts=tuple(filter(None, map(read, found["facts"])))[:MAX_FACTS],
        restated=_pairs(found["restated"]),
        used=numbers(found["used"]),
        ended=_pairs(found["ended"]),
        extra={name: _unquoted(found[name][0]) for name in extra if name in found},
    )


def _unquoted(value: Any) -> Any:
    """What stands in a text within an answer, if that is JSON."""
    return (_loads(value) if isinstance(value, str) else None) or value


def _told(
    value: Any, keys: Collection[str], under: str = "", depth: int = 8
) -> Iterator[tuple[str, Any]]:
    """What an answer says in each field, wherever models put it.

    Args:
        keys: Of fields; an object without any is looked through.
        under: The field that is looked through.
        depth: How far into lists, objects and texts it looks.
    """
    into = partial(_told, keys=keys, depth=depth - 1)
    if isinstance(value, str):
        # What a line quotes is none of the answer.
        inner = None if under in _LISTS else _loads(value, _JSON.match if under else _JSON.search)
        yield from [*into(inner, under=under)] or _items(value)
    elif isinstance(value, list) and depth > 0:
        for each in value[:MAX_NUMBERS]:
            yield from into(_line(each) if under else each, under=under)
    elif isinstance(value, dict) and depth > 0:
        data = {_FIELD.get(key, str(key)): each for key, each in value.items()}
        own = {key: each for key, each in data.items() if key in keys}
        if kind := _kind(data, under):
            yield kind, data
            data = {"entities": [each for each in data.values() if isinstance(each, dict)]}
        for key, each in (own or data).items():
            if own:
                yield key, [] if key in _AROUND else each
            if key in _AROUND or not own:
                yield from into(each, under=key if key in _AROUND else under)


def _kind(data: Mapping[str, Any], under: str) -> str:
    """The field of what an object is: a fact, an entity or neither."""
    if {"subject", "statement"} <= data.keys():
        return "facts"
    is_typed = normalise(line_of(data.get("type"), MAX_NAME)) in _TYPES
    is_named = not data.keys().isdisjoint({"id", "name"})
    return "entities" if is_named and (under or is_typed) else ""


def _line(value: Any) -> Any:
    """A line whose parts are given as a list; anything else as it is."""
    is_line = isinstance(value, list) and not any(
        isinstance(part, dict) or _SPLIT.search(str(part)) for part in value
    )
    return "|".join(",".join(map(str, many(part))) for part in value) if is_line else value


def _items(text: str) -> Iterator[tuple[str, Any]]:
    """The lines of an answer by field; entities and facts as objects."""
    text = text if "\n" in text else text.replace("\\n", "\n")  # escaped twice
    for line in text.splitlines():
        told = _SUMMARY.sub("summary|", _COAT.sub(r"\1", line.strip(" \t|｜-*`")))
        parts = [part.strip() for part in _SPLIT.split(told, len(_FACT) - 1)]
        word = normalise(parts[0])
        if len(parts) == 1:
            continue
        is_said = not parts[-1].isascii() or " " in parts[-1]
        if len(parts) < len(_FACT) - 1 and normalise(parts[1]) in PREDICATES and not is_said:
            continue  # the answer breaks off within a fact
        if word in _MARKS:
            yield word, ",".join(parts[1:])
        elif len(parts) <= len(_ENTITY):
            if normalise(parts[1]) in _TYPES and not _LABEL.match(parts[0]):
                parts = [parts[0], *parts]  # a name without a label
            yield "entities", dict(zip(_ENTITY, parts, strict=False))
        else:
            said = parts.pop().lstrip("|｜ ")  # behind one part too many
            if parts[7:] == [""]:  # as are the keywords
                *parts[7:], said = _SPLIT.split(said, 1)
            yield "facts", {**dict(zip(_FACT, parts, strict=False)), "statement": said}


def _loads(text: str, find: Callable[[str], re.Match[str] | None] = _JSON.search) -> Any:
    start = find(text)
    text = text[start.start() :] if start else text  # prose before it only costs time
    _require_end(text)
    if start is None:
        return None
    try:
        import json_repair  # not before something is learned

        return json_repair.loads(_ONE_AFTER_ANOTHER.sub("},{", text))
    except Exception:  # a third party's parser over hostile text: whatever it raises
        return None


def _require_end(text: str) -> None:
    """See that a model did not go on until it was stopped."""
    opened = text.count("{") + text.count("[")
    sample = text[:MAX_ANSWER].encode("utf-8", "replace")
    is_varied = len(sample) < 2_000 or len(zlib.compress(sample)) > MIN_VARIETY * len(sample)
    if len(text) > MAX_ANSWER or opened > MAX_OPENED or not is_varied:
        raise ExtractionError("the model's answer does not end", Failure.RUNAWAY)


def _entity(data: dict[str, Any]) -> EntityClaim | None:
    name = line_of(data.get("name"), MAX_NAME)
    id = line_of(data.get("id"), MAX_NAME).strip("[]()【】（） ") or name
    word = normalise(line_of(data.get("type"), MAX_NAME))
    called = _SEPARATOR.split(",".join(_lines(data.get("aliases"), 200)[:10]))
    aliases = tuple(filter(None, dict.fromkeys(line_of(each, MAX_NAME) for each in called)))
    if not (name or (id and aliases)):
        return None
    return EntityClaim(id, name or id, _TYPES.get(word, EntityType.TOPIC), aliases)


def _fact(data: dict[str, Any], predicates: Collection[str]) -> FactClaim | None:
    subject = line_of(data.get("subject"), MAX_NAME)
    statement = sentence_of(data.get("statement"), MAX_SENTENCE)
    if not subject or not statement:
        return None
    called = normalise(line_of(data.get("predicate"), MAX_NAME))
    predicate = called.replace(" ", "_")
    flags = (mark for mark in _FLAGS if _is_yes(data.get(mark)))
    marks = normalise(" ".join([*_lines(data.get("marks"), MAX_NAME), *flags]))
    words = _SPACED.split(" ".join(_lines(data.get("keywords"), MAX_KEYWORDS))[:MAX_KEYWORDS])
    return FactClaim(
        subject=subject,
        predicate=predicate if predicate in predicates else _PREDICATES.get(called, "other"),
        object=line_of(data.get("object"), MAX_NAME),
        statement=statement,
        importance=_share(data.get("importance")),
        evidence=numbers(data.get("evidence")),
        date=line_of(data.get("date"), 32),
        **{mark: bool(said.search(marks)) for mark, said in _FLAGS.items()},
        replaces=numbers(",".join(_REPLACES.findall(marks)) or data.get("replaces")),
        keywords=" ".join(
            word for word in dict.fromkeys(words) if word not in statement and sentence_of(word, 80)
        ),
    )


def line_of(value: Any, limit: int) -> str:
    """A text on one line, empty if it is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("id") or value.get("name")
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Python refuses to write out integers of thousands of digits.
        value = str(value) if abs(value) < 1e15 else ""
    return one_line(value[: 8 * limit], limit) if isinstance(value, str) else ""


def _lines(value: Any, limit: int) -> list[str]:
    """Texts, each on one line, of a list or of what stands alone."""
    return [line_of(each, limit) for each in many(value)[:MAX_NUMBERS]]


def sentence_of(value: Any, limit: int) -> str:
    """A text on one line, empty also if it says that there is none."""
    text = line_of(value, limit)
    return "" if _NONE.fullmatch(text) else text


def _is_yes(value: Any) -> bool:
    return normalise(str(value)[:32]) in _YES


def finite(value: Any, otherwise: float) -> float:
    """A number that a model wrote, be it as a text; ``otherwise`` if it is none."""
    try:
        number = float("nan" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return number if math.isfinite(number) else otherwise


def _share(value: Any) -> float:
    """An importance; what is written as 1…10 or as a percentage is scaled."""
    number = finite(value, 0.5)
    if number > 1.0:
        number /= 10.0 if number <= 10.0 else 100.0
    return min(1.0, max(0.0, number))


def many(value: Any) -> list[Any]:
    """What a list holds, or what stands alone in its place."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def numbers(value: Any) -> tuple[int, ...]:
    """Whole numbers from a list, a single one or text like ``"[1], 3"``."""
    found = (int(n) for text in _lines(value, 200) for n in _NUMBER.findall(text))
    return tuple(dict.fromkeys(number for number in found if number))


def _pairs(value: Any) -> dict[int, int]:
    """Messages by numbers of known facts (``"3:12, 5:7"``); 0 where none is named.

    Where one names a message, a number alone is another message (``"3:12,13"``), or of a remark.
    """
    found = (_PAIR.findall(text) for text in _lines(value, 200))
    pairs = (pair for each in found for pair in [one for one in each if one[1]] or each)
    return {int(known): int(said or 0) for known, said in pairs if int(known)}
