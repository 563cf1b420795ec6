"""Whether a search finds what was said: a word, and a message that holds it.

``./dev eval [DATA] --search`` draws pairs by a fixed rule from the files of conversations in a
folder and from the recorded worlds: as many of each source, a quarter of them numbers, a quarter
names of those who speak, the rest words (in Chinese two characters between signs and the
commonest characters). Whoever said the message searches for the word where they said it. The
first page has to show the message if it can show everything that says the word; otherwise some
page. Left out is what nobody is told (confidences before others) or says nothing (greetings).
"""

import random
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_memory.commands.memory_commands import LISTED
from graph_memory.model import Asker, Fact, Message, Session, asker_of
from graph_memory.privacy.redaction import disclosed
from graph_memory.privacy.scope import in_confidence
from graph_memory.recall import Item, Recaller, RecallOptions
from graph_memory.recall.documents import Document, message_key
from graph_memory.recall.index import MAX_MESSAGES
from graph_memory.recall.lexical import search_terms
from graph_memory.recall.search import keywords
from graph_memory.store import Journal
from graph_memory.text import CJK, says_something, terms

from .metrics import percentile

PAIRS, SEED = 500, 31
SHARE = 0.25
"""Of numbers, and of names, as far as there are any; the rest are words."""
_HAN = f"[{CJK}]"
_COMMON = (
    "的了是在有和就不也都很我你他她它们这那个么什吗呢吧啊呀哦嗯哈还要会能可说去来到把被给跟对从让没"
    "得着过又再才只最"
)
_PIECE = re.compile(f"(?:(?![{_COMMON}]){_HAN})+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_NUMBER = re.compile(r"\d+")
_INTRODUCED = re.compile(rf"^({_HAN}{{2,3}})是我的|名字[叫是]({_HAN}{{2,3}})[，。]?$")


@dataclass(frozen=True, slots=True)
class Pair:
    """A word, who searches for it, and a message that holds it."""

    kind: str
    word: str
    asker: Asker
    message: Message


@dataclass(slots=True)
class SearchReport:
    """What was measured, by source; times are milliseconds, of known questions.

    Attributes:
        found: Whether the first page showed each message, if all fit there; by kind.
        reached: Whether any page did.
        beside: Lines that neither hold the word nor rest on a message that does.
    """

    found: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    reached: list[bool] = field(default_factory=list)
    lines: int = 0
    beside: list[tuple[str, str]] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)
    remind_ms: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        times = {"search": self.search_ms, "remind": self.remind_ms}
        return {
            "pairs": len(self.reached),
            "on_first_page": {
                kind: (round(sum(found) / len(found), 4), len(found))
                for kind, found in sorted(self.found.items())
            },
            "reached": round(sum(self.reached) / max(1, len(self.reached)), 4),
            "beside": round(len(self.beside) / max(1, self.lines), 3),
            "lines": self.lines,
            **{
                f"{name}_p{share}_ms": round(percentile(taken, share / 100), 2)
                for name, taken in times.items()
                for share in (50, 95)
            },
            "missed": self.missed,
        }


async def measure(journal: Journal, recaller: Recaller, pairs: int) -> SearchReport:
    """Draw pairs from what is in a journal and search for them."""
    report = SearchReport()
    for pair in await drawn(journal, pairs):
        await _search(recaller, pair, report)
    return report


def joined(reports: Iterable[SearchReport]) -> SearchReport:
    """What several sources have together."""
    whole = SearchReport()
    for each in reports:
        for kind, found in each.found.items():
            whole.found[kind] += found
        for name in ("reached", "beside", "missed", "search_ms", "remind_ms"):
            getattr(whole, name).extend(getattr(each, name))
        whole.lines += each.lines
    return whole


async def drawn(journal: Journal, count: int) -> list[Pair]:
    """Pairs of words and messages: a word by chance, then one of those that hold it."""
    sessions = await journal.read(lambda rows: {each.id: each for each in rows.scan(Session)})
    said = map(disclosed, await journal.newest_messages(MAX_MESSAGES))
    people = [
        each
        for each in said
        if each.is_human and not (in_confidence(each) and sessions[each.session].is_group)
    ]
    people = [each for each in people if says_something(search_terms(each.text))]
    names = {each.name for each in people if len(keywords(each.name)) == 1} | {
        name for each in people for found in _INTRODUCED.findall(each.text) for name in found
    }
    finders: dict[str, Callable[[str], Iterable[str]]] = {
        "names": lambda text: [name for name in names if name and holds(name, text)],
        "numbers": _NUMBER.findall,
        "words": _words,
    }
    chance = random.Random(SEED)
    pairs: list[Pair] = []
    for kind, find in finders.items():
        holding: dict[tuple[Asker, str], list[Message]] = defaultdict(list)
        for message in people:
            session = sessions[message.session]
            asker = asker_of(session, session.owner or message.sender)
            for word in find(message.text):
                holding[asker, word].append(message)
        known = sorted(holding, key=lambda each: (each[0].circle, each[0].user or "", each[1]))
        wanted = count if kind == "words" else len(pairs) + round(count * SHARE)
        wanted = min(wanted, len(pairs) + sum(map(len, holding.values())))
        while len(pairs) < wanted:
            asker, word = chance.choice(known)
            pair = Pair(kind, word, asker, chance.choice(holding[asker, word]))
            if pair not in pairs:
                pairs.append(pair)
    return pairs


def _words(text: str) -> Iterator[str]:
    yield from (word for word in _WORD.findall(text) if terms(word))
    yield from (piece for piece in _PIECE.findall(text) if len(piece) == 2)


async def _search(recaller: Recaller, pair: Pair, report: SearchReport) -> None:
    documents = await recaller.inspect(
        pair.asker,
        lambda index, visible: {
            each.key: each for each in map(index.documents.__getitem__, visible.numbers.tolist())
        },
    )
    await recaller.find(pair.asker, pair.word)  # and know the vector of the question
    started = time.perf_counter()
    found = await recaller.find(pair.asker, pair.word, LISTED)
    report.search_ms.append((time.perf_counter() - started) * 1000)
    options = RecallOptions(exclude=(pair.message.id,))
    await recaller.remind(pair.asker, pair.message.text, options)
    started = time.perf_counter()
    await recaller.remind(pair.asker, pair.message.text, options)
    report.remind_ms.append((time.perf_counter() - started) * 1000)
    last = found.total <= LISTED
    shown = found.items + (found.similar if last else ())
    report.lines += len(shown)
    report.beside += [
        (pair.word, item.text) for item in shown if not _is_right(pair.word, item, documents)
    ]
    is_there = any(_shows(item, pair, documents) for item in shown)
    if sum(holds(pair.word, _said(each)) for each in documents.values()) <= LISTED:
        report.found[pair.kind].append(is_there)
        if not is_there:
            report.missed.append((pair.word, pair.message.text))
    start = LISTED
    while not is_there and start < found.total:
        more = await recaller.find(pair.asker, pair.word, LISTED, start=start)
        is_there = any(_shows(each, pair, documents) for each in more.items)
        start += LISTED
    report.reached.append(is_there)
    if not is_there:
        report.missed.append((pair.word, pair.message.text))


def holds(word: str, text: str) -> bool:
    """Whether a text holds a word: a whole word in any form, a whole number."""
    text, word = (unicodedata.normalize("NFKC", each).casefold() for each in (text, word))
    if re.fullmatch(_HAN + "+", word):
        return word in text
    if word.isdecimal():
        return re.search(rf"(?<!\d){word}(?!\d)", text) is not None
    whole = re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", text)
    return whole is not None or not {*terms(word)}.isdisjoint(terms(text))


def _is_right(word: str, item: Item, documents: Mapping[str, Document]) -> bool:
    """Whether a line holds a word, or rests on a message that does."""
    source = documents[_key(item)].source
    rests_on = source.evidence if isinstance(source, Fact) else ()
    keys = (_key(item), *map(message_key, rests_on))
    return any(holds(word, documents[key].text) for key in keys if key in documents)


def _shows(item: Item, pair: Pair, documents: Mapping[str, Document]) -> bool:
    """Whether a line is a message, or a fact from it that holds the word."""
    known = documents[_key(item)]
    if isinstance(known.source, Fact):
        return pair.message.id in known.source.evidence and holds(pair.word, known.text)
    return pair.message.id in item.messages


def _said(document: Document) -> str:
    """A document's text without who said it."""
    source = document.source
    return source.text if isinstance(source, Message) else document.text


def _key(item: Item) -> str:
    return message_key(item.messages[0]) if item.messages else item.id
