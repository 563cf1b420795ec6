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
from typing import Any, TypeVar

from ..errors import ExtractionError, Failure
from ..inference.ports import Answer
from ..locales import in_all
from ..model import PREDICATES, EntityType
from ..text import normalise, one_line

T = TypeVar("T")

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
MAX_STATEMENT = 300
MAX_SUMMARY = 300
MAX_KEYWORDS = 80

_KEYS = frozenset(
    {"lines", "worth", "summary", "entities", "facts", "known", "restated", "used", "ended"}
)
_MARKS = frozenset({"summary", "restated", "ended", "used"})
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
    r"|no change|unchanged|same as before)\W*",
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
_ONE_AFTER_ANOTHER = re.compile(r"\}\s+\{")
"""Between objects of which no list is made."""
_REPLACES = re.compile(r">\s*([0-9]{1,6}(?:\s*[,，、]\s*[0-9]{1,6})*)")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])(?<!^-)(?<![^0-9]-)([0-9]{1,6})(?![0-9])")
"""No part of a word, and not below zero: models write -1 for none."""
_PAIR = re.compile(rf"{_NUMBER.pattern}(?:\s*[:：@]\s*\[?([0-9]{{1,6}})(?![0-9]))?")
"""A known fact, and the message that speaks of it."""
_PAST, _HEARSAY, _SECRET = (
    re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    for words in ("past|以前是?", "hearsay|[听聽][说說]", "secret|要?保密|是[惊驚]喜")
)
"""Marks, also in the words by which the prompt explains them."""
_LABEL = re.compile(r"\W*[EU]\D{0,2}\d", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,，、;；/|]")
_SPACED = re.compile(r"[\s,，、;；/]+")
_YES = frozenset({"true", "yes", "y", "1", "是", "有", "值得", "对"})
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
        keywords: Words that it lacks and somebody may ask by, with spaces between them.
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
        worth: Whether there is anything worth remembering.
        summaries: Of each conversation, in order.
        restated, ended: Messages that say so by numbers of known facts; 0 for none named.
        used: Numbers of known facts.
        extra: Fields that an extension asked for, as the model gave them.
    """

    worth: bool
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
    data = _answer_of(answer.arguments) or _answer_of(_loads(answer.text))
    if data is None:
        _require_end(answer.text)
        is_empty = _NONE.fullmatch(answer.text) or _NOTHING.match(answer.text)
        if not (is_empty or _SPLIT.search(answer.text)):
            raise ExtractionError("the model answered neither lines nor JSON", Failure.NO_JSON)
        data = {"lines": answer.text}
    known, lines = data.get("known"), data.get("lines")
    told = [each for key in ("lines", "facts", "entities") for each in many(data.get(key))]
    text = "\n".join(each for each in told if isinstance(each, str))
    nested = (_answer_of(text) or _answer_of(lines)) if _is_nested(lines) else None
    data = {**data, **(known if isinstance(known, dict) else {}), **(nested or _items(text))}
    read = partial(_fact, predicates={*PREDICATES, *relations})
    facts = _each(data.get("facts"), read, MAX_FACTS)
    summed = (sentence_of(each, MAX_SUMMARY) for each in many(data.get("summary"))[:MAX_NUMBERS])
    summaries = tuple(filter(None, summed))
    return Extraction(
        worth=_flag(data["worth"]) if data.get("worth") is not None else bool(facts or summaries),
        summaries=summaries,
        entities=_each(data.get("entities"), _entity, MAX_ENTITIES),
        facts=facts,
        restated=_pairs(data.get("restated")),
        used=numbers(data.get("used")),
        ended=_pairs(data.get("ended")),
        extra={name: _unquoted(data[name]) for name in extra if name in data},
    )


def _unquoted(value: Any) -> Any:
    """What stands in a text within an answer, if that is JSON."""
    return (_loads(value) if isinstance(value, str) else None) or value


def _is_nested(lines: Any) -> bool:
    """Whether what was to be lines is an object; one that they quote is none."""
    first = lines[0] if isinstance(lines, list) and lines else lines
    return _is_fact(first) or (isinstance(first, str) and bool(re.match(r"\s*\[?\s*\{", first)))


def _items(text: str) -> dict[str, Any]:
    """The lines of an answer as objects, by the first of their parts."""
    text = text if "\n" in text else text.replace("\\n", "\n")  # escaped twice
    found: dict[str, list[Any]] = defaultdict(list)
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
            found[word].append(",".join(parts[1:]))
        elif len(parts) <= len(_ENTITY):
            if normalise(parts[1]) in _TYPES and not _LABEL.match(parts[0]):
                parts = [parts[0], *parts]  # a name without a label
            found["entities"].append(dict(zip(_ENTITY, parts, strict=False)))
        else:
            *parts, statement = parts
            statement = statement.lstrip("|｜ ")  # behind one part too many
            found["facts"].append({**dict(zip(_FACT, parts, strict=False)), "statement": statement})
    return found


def _loads(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        return None
    text = text[start:]  # prose and fences before the first brace only cost time
    _require_end(text)
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


def _answer_of(data: Any, depth: int = 3) -> dict[str, Any] | None:
    """The object that has our keys, unwrapped from what models put around it."""
    if isinstance(data, str):
        data = _loads(data)
    if isinstance(data, dict):
        if not _KEYS.isdisjoint(data):
            return data
        if _is_fact(data):
            return {"facts": [data]}
        data = list(data.values())
    if not isinstance(data, list) or depth == 0:
        return None
    if any(_is_fact(item) for item in data):
        return {"facts": data}
    # In one of some values: as an object, else as text; or in several calls, some lines in each.
    objects = [item for item in data[:MAX_FACTS] if isinstance(item, dict | list)]
    said = [item for item in data if isinstance(item, str)]
    texts = [item for item in said[:MAX_FACTS] if "{" in item]
    found = list(filter(None, (_answer_of(item, depth - 1) for item in (*objects, *texts))))
    lines = [line for each in found for line in many(each.get("lines"))]
    if len(found) > 1 and lines:
        return {**found[0], "lines": lines}
    if not found and any(len(_SPLIT.findall(item)) > 2 for item in said):
        return {"lines": said}  # by whatever name
    return found[0] if found else None


def _is_fact(data: Any) -> bool:
    found = {_FIELD.get(key, key) for key in data} if isinstance(data, dict) else set()
    return {"subject", "statement"} <= found


def _each(value: Any, read: Callable[[dict[str, Any]], T | None], limit: int) -> tuple[T, ...]:
    items = (read(item) for item in many(value)[: 4 * limit] if isinstance(item, dict))
    return tuple([item for item in items if item is not None][:limit])


def _entity(data: dict[str, Any]) -> EntityClaim | None:
    name = line_of(data.get("name"), MAX_NAME)
    id = line_of(data.get("id"), MAX_NAME).strip("[]()【】（） ") or name
    word = normalise(line_of(data.get("type"), MAX_NAME))
    parts = (p for a in many(data.get("aliases"))[:10] for p in _SEPARATOR.split(line_of(a, 200)))
    called = dict.fromkeys(line_of(part, MAX_NAME) for part in parts)
    aliases = tuple(alias for alias in called if alias)
    if not (name or (id and aliases)):
        return None
    return EntityClaim(id, name or id, _TYPES.get(word, EntityType.TOPIC), aliases)


def _fact(data: dict[str, Any], predicates: Collection[str]) -> FactClaim | None:
    data = {_FIELD.get(key, key): value for key, value in data.items()}
    subject = line_of(data.get("subject"), MAX_NAME)
    statement = sentence_of(data.get("statement"), MAX_STATEMENT)
    if not subject or not statement:
        return None
    called = normalise(line_of(data.get("predicate"), MAX_NAME))
    predicate = called.replace(" ", "_")
    marks = normalise(" ".join(line_of(each, MAX_NAME) for each in many(data.get("marks"))[:10]))
    asked = " ".join(line_of(each, MAX_KEYWORDS) for each in many(data.get("keywords"))[:10])
    words = _SPACED.split(asked[:MAX_KEYWORDS])
    return FactClaim(
        subject=subject,
        predicate=predicate if predicate in predicates else _PREDICATES.get(called, "other"),
        object=line_of(data.get("object"), MAX_NAME),
        statement=statement,
        importance=_share(data.get("importance")),
        evidence=numbers(data.get("evidence")),
        date=line_of(data.get("date"), 32),
        past=_flag(data.get("past")) or bool(_PAST.search(marks)),
        hearsay=_flag(data.get("hearsay")) or bool(_HEARSAY.search(marks)),
        secret=_flag(data.get("secret")) or bool(_SECRET.search(marks)),
        replaces=numbers(",".join(_REPLACES.findall(marks)) or data.get("replaces")),
        keywords=" ".join(word for word in dict.fromkeys(words) if word not in statement),
    )


def line_of(value: Any, limit: int) -> str:
    """A text on one line, empty if it is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Python refuses to write out integers of thousands of digits.
        value = str(value) if abs(value) < 1e15 else ""
    return one_line(value[: 8 * limit], limit) if isinstance(value, str) else ""


def sentence_of(value: Any, limit: int) -> str:
    """A text on one line, empty also if it says that there is none."""
    text = line_of(value, limit)
    return "" if _NONE.fullmatch(text) else text


def _flag(value: Any) -> bool:
    if isinstance(value, str):
        return normalise(value[:32]) in _YES
    return value is True or (isinstance(value, int | float) and value == 1)


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
    found = (int(n) for text in _texts(value) for n in _NUMBER.findall(text))
    return tuple(dict.fromkeys(number for number in found if number))


def _pairs(value: Any) -> dict[int, int]:
    """Messages by numbers of known facts (``"3:12, 5:7"``); 0 where none is named.

    Where one names a message, a number alone is another message (``"3:12,13"``), or of a remark.
    """
    found = (_PAIR.findall(text) for text in _texts(value))
    pairs = (pair for each in found for pair in [one for one in each if one[1]] or each)
    return {int(known): int(said or 0) for known, said in pairs if int(known)}


def _texts(value: Any) -> Iterator[str]:
    """What is written in a list or alone; whole numbers as text."""
    for item in many(value)[:MAX_NUMBERS]:
        if isinstance(item, str):
            yield item[:200]
        elif not isinstance(item, bool) and isinstance(item, int | float) and item % 1 == 0:
            yield f"{item:.0f}" if abs(item) < 1e15 else ""
