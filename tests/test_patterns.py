"""Patterns that meet what people write: none repeats what may repeat by itself.

By ``(?:[哈啊]+|um+)*`` a line of laughter can be read in exponentially many ways, and while ``re``
tries them nothing else runs: one message would stop the bot for ever.
"""

import importlib
import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser as parser
from typing import Any

import pytest

import tests.astrbot_root  # noqa: F401 - before AstrBot is imported
from tests.sources import name, runtime_modules

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
MANY = 2_000
"""Words that a repetition may read, above which they are not compared."""


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(each)


def inner(op: Any, given: Any) -> list[Any]:
    """The sequences of which a part of a pattern is made."""
    if op is codes.BRANCH:
        return list(given[1])
    if op in (*REPEATS, codes.POSSESSIVE_REPEAT):
        return [given[2]]
    if op in (codes.ASSERT, codes.ASSERT_NOT, codes.SUBPATTERN):
        return [given[-1]]
    return [given] if op is codes.ATOMIC_GROUP else []


def may_repeat_alone(sequence: Any) -> bool:
    """Whether it may be nothing but a repetition without a bound."""
    parts = list(sequence)
    for place, (op, given) in enumerate(parts):
        others = [*parts[:place], *parts[place + 1 :]]
        if any(parser.SubPattern(sequence.state, [each]).getwidth()[0] for each in others):
            continue
        if op in REPEATS and given[1] == codes.MAXREPEAT:
            return True
        if op in (*REPEATS, codes.BRANCH, codes.SUBPATTERN):
            return any(map(may_repeat_alone, inner(op, given)))
    return False


def is_exponential(sequence: Any) -> bool:
    return any(
        (op in REPEATS and given[1] == codes.MAXREPEAT and may_repeat_alone(given[2]))
        or any(map(is_exponential, inner(op, given)))
        for op, given in sequence
    )


def words_of(sequence: Any) -> set[str]:
    """What a sequence may read, once for each repetition; nothing of what it only looks at."""
    found = {""}
    for op, given in sequence:
        match op:
            case codes.LITERAL:
                read = {chr(given)}
            case codes.IN if given[0][0] is codes.LITERAL:
                read = {chr(each) for kind, each in given if kind is codes.LITERAL}
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                read = words_of(given[2]) | ({""} if not given[0] else set())
            case codes.BRANCH | codes.SUBPATTERN | codes.ATOMIC_GROUP:
                read = set().union(*map(words_of, inner(op, given)))
            case codes.ASSERT | codes.ASSERT_NOT | codes.AT:
                continue
            case _:
                read = {"\0"}
        found = {before + each for before in found for each in read}
        if len(found) > MANY:
            return {"\0"}
    return found


def is_ambiguous(sequence: Any) -> bool:
    """Whether it repeats words of which one reads as two of the others."""
    for op, given in sequence:
        words = words_of(given[2]) - {""} if op in REPEATS and given[1] == codes.MAXREPEAT else ()
        for word in words:
            if any({word[:at], word[at:]} <= words for at in range(1, len(word))):
                return True
        if op is not codes.POSSESSIVE_REPEAT and any(map(is_ambiguous, inner(op, given))):
            return True
    return False


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("(?:你?一定要|你)*记住", True),
        ("(?:麻烦你?|[您你])*记住", True),
        ("(?:你?一定要|你)*+记住", False),
        ("(?:一定要|要)*记住", False),
    ],
)
def test_what_reads_in_two_ways(pattern: str, found: bool) -> None:
    assert is_ambiguous(parser.parse(pattern)) is found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(?:a+|b)*c", True),
        (r"(?:\s*(?:a+)?)*", True),
        (r"(?:a|b\s*)*c", False),
        (r"(?:a+,)*", False),
    ],
)
def test_what_counts(pattern: str, found: bool) -> None:
    assert is_exponential(parser.parse(pattern)) is found


def test_no_pattern_repeats_what_repeats() -> None:
    names = (name(path).removesuffix(".py").replace("/", ".") for path in runtime_modules())
    found = {
        (each, pattern.pattern): pattern
        for each in names
        if each != "main" and not each.endswith("__main__")
        for value in vars(importlib.import_module(each)).values()
        for pattern in patterns_in(value)
    }
    assert len(found) > 100
    parsed = {key: parser.parse(*key[1:], each.flags) for key, each in found.items()}
    assert not [key for key, each in parsed.items() if is_exponential(each)]
    assert not [key for key, each in parsed.items() if is_ambiguous(each)]
