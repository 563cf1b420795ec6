"""Query analysis: the questions in a message, what they ask for, and small talk."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from ..dates import without_times
from ..inference import Vectors
from ..kinship import kin_in, same_kin
from ..model import PREDICATES, Asker
from ..privacy.redaction import redacted
from ..text import (
    CJK,
    clean,
    is_chinese,
    joined,
    normalise,
    patterns,
    remembered,
    simplified,
    terms,
)
from .lexical import search_terms, telling_characters
from .weights import BRIEF, FEW, MINOR

MAX_QUERY = 2_000
"""Characters of a message that are searched for."""
MAX_PARTS = 4
MAX_TURNS = 16
"""Last places of a message that are looked at for where it comes to the point."""

(
    _ASKING, _TOPIC, _TURN, _ASKS, _UNMARKED, _WONDERS, _NOTED, _FORGOTTEN, _WHO, _MANY,
    _FIRST_PERSON, _OWNED, _SECOND_PERSON, _FOR_ME, _RECALLS, _FORMER, _REFERS_BACK, _SMALL_TALK,
    _TASK, _WHOLE, _LAST_TALK, _THIS_TALK,
) = patterns(Path(__file__).with_suffix(".txt"))  # fmt: skip
_LEADING = re.compile(r"^(?:[\s，,。.、：:；;!！…哈]|这个[，：:])+")
_BORDER = re.compile(
    r"(?<=[。！？!?；;\n])(?![。！？!?；;\n\"”』」)）])|(?<=[a-z0-9]{3}\.)\s+(?=[A-Z])"
)
"""Between sentences; not inside of quotations or after initials."""
_CLAUSE = re.compile(
    rf"[，,]\s*(?:and )?|(?<=[{CJK}])\s+(?=[{CJK}])|\band (?={_ASKING.pattern})", re.IGNORECASE
)
"""Between the clauses of a sentence."""
_PARTED = re.compile(r"([分结离订吵见毕请搬住辞领考])(?:[的了过]|过了)([手婚架面业假家院职证])")
"""Verb and object of one word, with something between them: 分的手."""
_SENTENCE = re.compile(r"[^。！？!?.；;\n]*[。！？!?.；;\n]*")
_SAID_THERE = dict(
    line.split(" ")
    for words in joined(Path(__file__).with_name("dialects.txt"), "\n")
    for line in words.splitlines()
)
_DIALECTS = re.compile("|".join(f"({words})" for words in _SAID_THERE.values()))
_IN_MANDARIN = (*_SAID_THERE,)
_TABLE = Path(__file__).with_name("question_kinds.txt").read_text("utf-8")
_KINDS = [
    (PREDICATES if head == "*" else head.split(), re.compile("|".join(cues), re.IGNORECASE))
    for head, *cues in (block.splitlines() for block in _TABLE.removeprefix("# ").split("\n\n# "))
]
"""Predicates, and what a question says if it asks for facts of these: a pattern a line."""


@dataclass(frozen=True, slots=True)
class Subquery:
    """One question of a message.

    Attributes:
        text: What is embedded.
        terms: Weights of its words and characters.
        words: The words, or the only character that says something: only they are evidence.
        many: Whether it asks for all things of a kind.
        former: Whether it asks how it was.
        predicates: Of facts that answer such a question, if it is of a known kind.
        is_for_known: Whether it is for what is known: by its name alone, or as they forgot it.
        is_for_note: Whether it only names something that people keep a note of.
        is_for_somebody: Whether it asks who.
    """

    text: str
    terms: Mapping[str, float]
    words: Collection[str]
    many: bool
    former: bool = False
    predicates: frozenset[str] = frozenset()
    is_for_known: bool = False
    is_for_note: bool = False
    is_for_somebody: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What the memory is asked: one question or several.

    Attributes:
        said: The message; ``text`` is what to search for.
        parts: See :func:`split`.
        vectors, model: Embedding of each part, where there is one, and the model they are of.
    """

    asker: Asker
    said: str
    text: str
    parts: tuple[Subquery, ...]
    vectors: Sequence[Vectors] = ()
    model: str = ""

    @property
    def is_personal(self) -> bool:
        """Whether the asker speaks of themselves."""
        return is_personal(self.text)

    @property
    def is_of_theirs(self) -> bool:
        """Whether they ask about something they own, not about themselves."""
        return _OWNED.search(self.text) is not None

    @property
    def is_addressed(self) -> bool:
        """Whether they speak of the one they speak to, and of no shared past."""
        to_another = not self.is_personal and _SECOND_PERSON.search(self.text)
        return bool(to_another) and not _RECALLS.search(self.text)


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """Options of one recall.

    Attributes:
        limit: Most memories; 0 for ``retrieval_top_k``.
        budget: Tokens of the block, ``lead`` included; ``None`` for any.
        context: Texts that the language model has in front of it; they are not repeated.
        previous: What was said before, for a message that leans on it.
        exclude: Ids of messages not to show (the one that is being answered).
        brief: Whether only what is nearly as good as the best is added to the first few,
            unless all of a kind is asked for.
        lead: First paragraphs of the block, safe in the fence: a line, or several below a heading.
        records: One more, which stands beside memories only.
        profile: Whether what is known about the asker is preferred.
        message: Id of the message that asks; 0 if it is not stored, ``None`` if it is none.
    """

    limit: int = 0
    budget: int | None = None
    context: Sequence[str] = ()
    previous: str = ""
    exclude: Collection[int] = ()
    brief: bool = False
    lead: Sequence[Sequence[str]] = ()
    records: Sequence[str] = ()
    profile: bool = True
    message: int | None = None


def is_task(text: str) -> bool:
    """Whether a text asks for something that anybody could be given."""
    return _TASK.search(text.strip()) is not None


def is_small_talk(text: str) -> bool:
    """Whether nothing is left of a text without what people say to be polite, or rude."""
    return len(text) <= BRIEF and not any(map(str.isalnum, _SMALL_TALK.sub("", text)))


@remembered(256)  # a question is looked at from a dozen sides
def in_mandarin(text: str) -> str:
    """A text in simplified characters, its question words of dialects as in Mandarin."""
    if text.isascii():
        return text
    plain = simplified(text)
    return _DIALECTS.sub(lambda word: _IN_MANDARIN[(word.lastindex or 1) - 1], plain)


def asks(text: str) -> bool:
    return bool(_ASKS.search(in_mandarin(text)))


def asks_for_all(text: str) -> bool:
    """Whether a question is for what a time was about, as a whole."""
    return _WHOLE.search(in_mandarin(text)) is not None


def talk_asked_for(text: str) -> Literal["this", "last", ""]:
    """Which talk a question is for as a whole, if any: this one or the last."""
    plain = in_mandarin(text)
    return "this" if _THIS_TALK.search(plain) else "last" if _LAST_TALK.search(plain) else ""


def may_ask(text: str) -> bool:
    """Whether a text is a question, or may be one that is not marked as such."""
    plain = in_mandarin(text)
    return bool(_ASKS.search(plain) or _WONDERS.search(plain))


def recalls(text: str) -> bool:
    """Whether a question is about what was said."""
    return _RECALLS.search(text) is not None


def is_personal(text: str) -> bool:
    """Whether the speaker speaks of themselves."""
    return bool(_FIRST_PERSON.search(_FOR_ME.sub("", text)))


def first_person(text: str, names: Collection[str]) -> str:
    """A question about people with some names, as they would speak of themselves.

    What they say has no name in it, and a name is most of what two short texts have in common.
    """
    if is_personal(text):
        return text
    words = {each for name in names for each in (name, name.split(" ")[0]) if len(each) > 1}
    said = text.casefold()
    words = {each for each in words if each.casefold() in said}  # a thousand may begin alike
    me, my = ("我", "我的") if is_chinese(text) else ("I", "my")
    for word in sorted(words, key=len, reverse=True):
        named = rf"(?<![a-z]){re.escape(word)}(?P<own>['’]s)?(?![a-z])"
        text = re.sub(named, lambda found: my if found["own"] else me, text, flags=re.IGNORECASE)
    return text


def compose(text: str, previous: str = "") -> str:
    """What to search for: a message, after the turn before if it leans on it.

    Without secrets: it goes to the provider of embeddings.
    """
    text = clean(redacted(text[: 2 * MAX_QUERY]), MAX_QUERY)
    leans = len(terms(text)) <= FEW or bool(_REFERS_BACK.match(text))
    if not (previous and leans):
        return text
    return f"{clean(redacted(previous[:MAX_QUERY]), MAX_QUERY // 4)}\n{text}"


def split(text: str) -> tuple[Subquery, ...]:
    """The questions in a message, which are searched for separately.

    What is said around a question counts little; what came before the point ("wait, what I
    wanted to ask is") not at all.
    """
    parts: list[Subquery] = []
    text = _PARTED.sub(r"\1\2", text)
    for topic in _TOPIC.split(text):
        parts += _questions(topic)
    if not parts or len(parts) > MAX_PARTS:
        return (_part(text, ""),)
    return tuple(parts)


def telling(text: str) -> float:
    """Share of a text, 0…1, that is neither small talk nor in its questions."""
    if is_small_talk(text) or only_asks(text):
        return 0.0
    if "?" not in text and "？" not in text:
        return 1.0
    asked = sum(len(found) for found in _SENTENCE.findall(text) if found.endswith(("?", "？")))
    return 1 - asked / len(text)


def only_asks(text: str) -> bool:
    """Whether a text says nothing but what somebody wants to know or have done."""
    sentences = (found.strip() for found in _SENTENCE.findall(text) if terms(found))
    first = next(sentences, "")
    return bool(first) and _is_asking(first) and all(map(_is_asking, sentences))


def _is_asking(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or _TASK.search(sentence):
        return True
    return all(
        (len(s) <= BRIEF and _UNMARKED.search(in_mandarin(s.strip()))) or is_small_talk(s)
        for s in _CLAUSE.split(sentence)
    )


def _questions(topic: str) -> list[Subquery]:
    point = _to_the_point(topic)
    sentences = [found for found in _BORDER.split(point) if len(set(terms(found))) > 1]
    asked = [sentence for sentence in sentences if asks(sentence)]
    if not asked:
        return [_part(point, "")] if sentences else []
    around = " ".join(sentence for sentence in sentences if sentence not in asked)
    return [_part(sentence, around) for sentence in asked]


def _to_the_point(topic: str) -> str:
    """What follows the last turn after which something is asked."""
    for turn in reversed(list(_TURN.finditer(topic))[-MAX_TURNS:]):
        rest = _LEADING.sub("", topic[turn.end() :])
        if asks(rest) and len(set(terms(rest))) > 1:
            return rest
    return topic


def _part(text: str, around: str) -> Subquery:
    weights: dict[str, float] = {}
    for term in search_terms(without_times(text)):
        weights[term] = weights.get(term, 0.0) + 1.0
    for term in (*search_terms(text), *search_terms(around)):
        weights.setdefault(term, MINOR)
    lone = telling_characters(text.replace("哪儿", "哪"))
    lone = tuple(each for each in lone if each != "叫") or lone  # 我的猫叫啥
    is_own = is_personal(text) and asks(text)  # 我住哪, not 你会做什么
    said = (*weights, *(lone if len(lone) == 1 and is_own else ()))
    for character in telling_characters(text):
        weights[character] = weights.get(character, 0.0) + 0.5
    for word in (other for found in kin_in(normalise(text)) for other in same_kin(found)):
        for term in search_terms(word if len(word) > 1 else f"我{word}"):
            weights.setdefault(term, 1.0)
    plain = in_mandarin(text)
    predicates, former = predicates_of(text), bool(_FORMER.search(plain))
    clauses = (each for each in _CLAUSE.split(plain) if len(set(terms(each))) > 1)
    many = bool(_MANY.search(plain)) or predicates.issuperset(PREDICATES)
    many = many or sum(map(asks, clauses)) > 1  # 吞的什么 花了几百
    cues = (_NOTED, _FORGOTTEN, _WHO)
    noted, forgotten, who = (cue.search(plain.strip()) is not None for cue in cues)
    known = noted or forgotten
    embedded = f"{around} {text}".strip()
    return Subquery(embedded, weights, said, many, former, predicates, known, noted, who)


def predicates_of(text: str) -> frozenset[str]:
    """Predicates of the facts that a question asks for, if it is of a known kind."""
    plain = in_mandarin(text)
    return frozenset(chain(*(each for each, cues in _KINDS if cues.search(plain))))
