"""Search terms of a text, and the inverted lists and names they are looked up in."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dates import number
from ..model import Message, Name, is_entity
from ..text import (
    characters,
    clean_name,
    normalise,
    remembered,
    significance,
    simplified,
    skeleton,
    terms,
)

REMEMBERED = 4_096
"""Texts of which the terms are cached."""
LONG, LONG_REMEMBERED = 500, 32
"""Characters from which a text is long, and long texts of which the terms are cached.

Those of 2,000 characters take a quarter of a megabyte.
"""
_WHOLE = 6
"""Digits from which a number is a code (an account, a telephone) and keeps its zeros."""
_WITH_UNIT = re.compile(r"(\d{1,5})\s?([月日号年点岁周天个楼层米斤元块])")
_SPELLED = re.compile(r"([一二三四五六七八九十]{1,3})(?=[月日号点岁]|年代)")
_NUMBERS = re.compile(r"\d|[一二两三四五六七八九十](?:[月日号点岁百千万]|年代)")
_PIECES = re.compile(r"\d+|[^\W\d_]+")
_SAME = str.maketrans("日", "号")
_BORDERLESS = "\u3040"
"""From here on letters are of scripts that have no borders between words."""
_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_GROUPED = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
ungrouped = partial(_GROUPED.sub, lambda found: found[0].replace(",", ""))
"""Gives a text in which 12,000 is 12000."""
_NUMERALS = "零〇一二两三四五六七八九十"
_AMOUNT = re.compile(
    rf"(?<![\d.几多数第])(?:\d+(?:\.\d+)?|[{_NUMERALS}]{{1,5}})[百千万]"
    rf"[{_NUMERALS}\d百千万]*+(?![几多来余])"
)
"""A number of hundreds or more with Chinese units, unless it is a rough one: 三百多."""
WHOLE = rf"(?<![\d{_NUMERALS}百千万])"
"""What stands before a number that is no end of another one."""


def _remembered(work: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    many, few = remembered(REMEMBERED)(work), remembered(LONG_REMEMBERED)(work)

    @wraps(work)
    def found(text: str) -> tuple[str, ...]:
        return many(text) if len(text) < LONG else few(text)

    return found


@_remembered
def index_terms(text: str) -> tuple[str, ...]:
    """Terms and characters that a document is found by; repetition is kept."""
    return search_terms(text) + telling_characters(text)


def telling_characters(text: str) -> tuple[str, ...]:
    """Characters of words without borders, except those that mostly carry grammar."""
    return tuple(each for each in characters(text) if significance(each))


def is_character(term: str) -> bool:
    """Whether a term is one character of a word without borders."""
    return len(term) == 1 and term >= _BORDERLESS


@_remembered
def search_terms(text: str) -> tuple[str, ...]:
    """Terms of a document or a question; repetition is kept."""
    if not _NUMBERS.search(text):
        return tuple(terms(text))
    plain = unicodedata.normalize("NFKC", ungrouped(text)).casefold()
    folded = _SPELLED.sub(_day, plain)
    found: list[str] = []
    for term in terms(folded):
        if term.isalpha() or not any(map(str.isdigit, term)):
            found.append(term)
        elif term.isdigit():
            found.append(_plain(term))
        else:
            pieces = [piece for piece in _PIECES.findall(term) if piece not in _ENDINGS]
            found += [_plain(piece) for piece in pieces]
            if len(pieces) > 1:
                found.append(term)
    amounts = list(filter(str.isdecimal, map(_figures, _AMOUNT.finditer(folded))))
    for digits, unit in _WITH_UNIT.findall(in_figures(folded) if amounts else folded):
        found.append(_plain(digits) + unit.translate(_SAME))
    return (*found, *amounts)


def in_figures(text: str) -> str:
    """A text with amounts and days in digits: 两千五 and 2,500 are 2500, 五号 is 5号."""
    return _AMOUNT.sub(_figures, ungrouped(_SPELLED.sub(_day, text)))


def _day(spelled: re.Match[str]) -> str:
    return str(number(spelled[1]))


def _figures(amount: re.Match[str]) -> str:
    """An amount in digits, or as it is if it is none: 两三百."""
    try:
        return str(number(amount[0]))
    except ValueError:
        return amount[0]


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0" if len(digits) < _WHOLE else digits


_FREQUENCY_BITS = 4
_FREQUENCY = (1 << _FREQUENCY_BITS) - 1


class InvertedIndex:
    """Inverted lists of all documents."""

    def __init__(self) -> None:
        self._lists: dict[str, int | array[int]] = {}

    def add(self, number: int, terms: Sequence[str]) -> None:
        for term, frequency in Counter(terms).items():
            posting = number << _FREQUENCY_BITS | min(frequency, _FREQUENCY)
            found = self._lists.get(term)
            if found is None:
                self._lists[term] = posting
            elif isinstance(found, int):
                self._lists[term] = array("I", (found, posting))
            else:
                found.append(posting)

    def remove(self, number: int, terms: Sequence[str]) -> None:
        """Remove a document; ``terms`` are those it was added with."""
        for term in set(terms):
            found = self._lists[term]
            if isinstance(found, int):
                del self._lists[term]
                continue
            (at,) = np.flatnonzero(self._packed(term) >> _FREQUENCY_BITS == number).tolist()
            found[at] = found[-1]
            found.pop()
            if len(found) == 1:
                self._lists[term] = found[0]

    def is_lone(self, term: str) -> bool:
        """Whether at most one document has a term."""
        return not isinstance(self._lists.get(term), array)

    def postings(
        self, terms: Iterable[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.integer[Any]], NDArray[np.intp]]:
        """Document numbers and frequencies of terms, and the end of those of each term.

        Nothing, their count included, may be computed from them before hidden ones are removed.
        """
        lists = [self._packed(term) for term in terms]
        packed = np.concatenate(lists)
        ends = np.cumsum([len(each) for each in lists])
        return (packed >> _FREQUENCY_BITS).astype(np.intp), packed & _FREQUENCY, ends

    def _packed(self, term: str) -> NDArray[np.uint32]:
        """Postings of a term: a view; while it exists the list cannot grow."""
        found = self._lists.get(term)
        if isinstance(found, array):
            return np.frombuffer(found, np.uint32)
        return np.array(() if found is None else (found,), np.uint32)


_LONGEST_TEXT = 600
"""Characters of a text that are searched for names."""
_SHORTEST_NAME = 2
"""Characters of a name from which it is looked for."""
_LONGEST_NAME = 6
"""Chinese characters of a name up to which it is looked for in what is asked."""
_LATIN, _HAN = re.compile(r"[^\W\d_\u2e80-\u9fff]+"), re.compile(r"[\u2e80-\u9fff]+")
_STEMS = (4, 3, 2)
"""Characters that two names of a user begin with and that are a name by themselves."""


class NameIndex:
    """The names of nodes, found in traditional as in simplified characters."""

    def __init__(self) -> None:
        self._by_id: dict[str, Name] = {}
        self._by_norm: dict[str, dict[str, Name]] = defaultdict(dict)
        self._by_node: dict[str, dict[str, Name]] = defaultdict(dict)
        # Names of users by how they look.
        self._alike: dict[str, dict[str, Name]] = defaultdict(dict)
        # Names of users by the Chinese characters they begin with.
        self._by_stem: dict[str, dict[str, Name]] = defaultdict(dict)
        # When users spoke under a name that looks so, by Session and user.
        self._heard: dict[str, dict[tuple[str, str], array[float]]] = defaultdict(dict)
        # Number of names by their first two characters and length.
        self._lengths: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))

    def put(self, name: Name) -> None:
        """Enter a name or its newer state."""
        self.drop(name.id)
        norm = simplified(name.norm)
        self._by_id[name.id] = name
        self._by_node[name.node][name.id] = name
        if not is_entity(name.node):
            self._alike[_look(name.text)][name.id] = name
            for stem in _stems(norm):
                self._by_stem[stem][name.id] = name
        if len(norm) >= _SHORTEST_NAME:
            self._by_norm[norm][name.id] = name
            self._lengths[norm[:2]][len(norm)] += 1

    def drop(self, id: str) -> None:
        name = self._by_id.pop(id, None)
        if name is None:
            return
        norm = simplified(name.norm)
        discard(self._by_node, name.node, id)
        if not is_entity(name.node):
            discard(self._alike, _look(name.text), id)
            for stem in _stems(norm):
                discard(self._by_stem, stem, id)
        if len(norm) >= _SHORTEST_NAME:
            discard(self._by_norm, norm, id)
            lengths = self._lengths[norm[:2]]
            lengths[len(norm)] -= 1
            if not lengths[len(norm)]:
                discard(self._lengths, norm[:2], len(norm))

    def hear(self, message: Message) -> None:
        """Note under which name somebody speaks, whatever was learned of it."""
        times = self._heard[_look(message.name)].setdefault(
            (message.session, message.sender), array("d")
        )
        insort(times, message.at)

    def unhear(self, message: Message) -> None:
        """Take a message back."""
        look, key = _look(message.name), (message.session, message.sender)
        times = self._heard.get(look, {}).get(key, array("d"))
        if message.at in times:
            times.remove(message.at)
            if not times:
                discard(self._heard, look, key)

    def of(self, node: str) -> list[Name]:
        return list(self._by_node.get(node, {}).values())

    def bearers(
        self,
        name: str,
        visible: Callable[[Name], bool],
        hears: Callable[[str, Sequence[float]], bool],
    ) -> set[str]:
        """The users with a name that looks like this, or who spoke under such a name.

        Args:
            hears: Whether anything that was said in a Session at some times is visible.
        """
        look = _look(name)
        found = {each.node for each in self._alike.get(look, {}).values() if visible(each)}
        spoken = self._heard.get(look, {}).items()
        return found | {
            user for (session, user), times in spoken if user not in found and hears(session, times)
        }

    def mentioned(self, text: str, visible: Callable[[Name], bool]) -> dict[str, str]:
        """Nodes named in a text, with the name; invisible names hide no other.

        Of the cards 诺诺带班中 and 诺诺休假 of one user 诺诺 is the name.
        """
        said = normalise(text)[:_LONGEST_TEXT]
        wanted = simplified(said)
        found: dict[str, str] = {}
        at = 0
        while at < len(wanted) - 1:
            lengths = self._lengths.get(wanted[at : at + 2])
            if lengths is None:  # as nearly everywhere
                at += 1
                continue
            for length in sorted(lengths, reverse=True):
                norm = wanted[at : at + length]
                names = self._by_norm.get(norm) if _is_word(wanted, at, at + length) else None
                nodes = {name.node for name in names.values() if visible(name)} if names else ()
                if nodes:
                    found.update(dict.fromkeys(sorted(nodes), said[at : at + length]))
                    at += length
                    break
            else:
                stem, nodes = self._stem(wanted[at : at + _STEMS[0]], visible)
                found.update(dict.fromkeys(sorted(nodes), said[at : at + len(stem)]))
                at += max(1, len(stem))
        return found

    def _stem(self, text: str, visible: Callable[[Name], bool]) -> tuple[str, set[str]]:
        """What a text begins with that two names of a user begin with, and these users."""
        for stem in _stems(text + "…"):
            names = [name for name in self._by_stem.get(stem, {}).values() if visible(name)]
            cards = {(name.node, name.norm) for name in names}
            twice = {
                node for node, count in Counter(node for node, _ in cards).items() if count > 1
            }
            if twice:
                return stem, twice
        return "", set()


def _stems(norm: str) -> list[str]:
    """What a name may begin with and be called by: characters that all say something."""
    found = [norm[:size] for size in _STEMS if size < len(norm)]
    return [stem for stem in found if all(map(is_character, stem)) and significance(stem) == 1]


def called_by(name: str) -> set[str]:
    """Looks of a name and of its first word."""
    return {_look(name), _look(name.split(" ")[0])}


def names_in(text: str) -> Iterator[str]:
    """Looks of what may be a name: words, pairs of them, a few Chinese characters."""
    text = text[:_LONGEST_TEXT]
    latin = [_look(word) for word in _LATIN.findall(text)]
    yield from (look for look in latin if len(look) >= _SHORTEST_NAME)
    yield from map(add, latin, latin[1:])
    for run in _HAN.findall(text):
        look = skeleton(run)
        for length in range(_SHORTEST_NAME, _LONGEST_NAME + 1):
            for start in range(len(look) - length + 1):
                yield look[start : start + length]


def _look(name: str) -> str:
    return skeleton(clean_name(name))


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a match is no fragment of a longer word; Chinese has no borders."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (
        _joins(text[end - 1 : end]) and _joins(after)
    )


def _joins(character: str) -> bool:
    """Whether a character is part of a word that is written with borders."""
    return character.isalnum() and character < "\u2e80"


def discard(table: dict[Any, dict[Any, Any]], key: Any, inner: Any) -> None:
    """Delete an entry of a table of tables, and no empty table stays."""
    entries = table[key]
    del entries[inner]
    if not entries:
        del table[key]
