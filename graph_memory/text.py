"""Text as this memory handles it: cleaning, names, search terms, sizes, digests.

Pure functions; every one of them is tested with Chinese, emoji and hostile input.
"""

from __future__ import annotations

import json
import math
import re
import threading
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
_CACHES: list[Any] = []
_TABLES = json.loads(Path(__file__).with_name("lookalikes.json").read_text("utf-8"))
_SIMPLIFIED = str.maketrans(_TABLES["traditional"], _TABLES["simplified"])
_TRADITIONAL = defaultdict[str, str](str)
for _other, _simple in zip(_TABLES["traditional"], _TABLES["simplified"], strict=True):
    _TRADITIONAL[_simple] += _other
_LETTERS = str.maketrans(_TABLES["lookalikes"], _TABLES["letters"])
_ALIKE = str.maketrans("01i", "oll")
_ACCENTED = re.compile("[\u0080-\u052f\u1e00-\u1fff]")
"""Letters that may have accents, which are easily overlooked."""
SIGNS: str = _TABLES["signs"]
"""What looks like a bracket, a colon, a comma or a bar, and is not ASCII."""


def remembered(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep what a function makes of the last texts, until :func:`forget`."""

    def keep(work: Callable[P, T]) -> Callable[P, T]:
        _CACHES.append(cached := lru_cache(most)(work))
        return cast("Callable[P, T]", cached)

    return keep


def forget() -> None:
    """Keep nothing of any text, as somebody's is to be forgotten."""
    for cache in _CACHES:
        cache.cache_clear()


def simplified(text: str) -> str:
    """A text with traditional Chinese characters in their simplified form."""
    return text if text.isascii() else text.translate(_SIMPLIFIED)


def in_either_form(text: str) -> str:
    """A pattern of a Chinese text in traditional or simplified characters."""
    return "".join(f"[{each}{_TRADITIONAL.get(each, '')}]" for each in simplified(text))


def blocks(table: Path) -> Iterator[list[str]]:
    """The lines of each block of a table, but comments."""
    for block in table.read_text("utf-8").split("\n\n"):
        yield [line for line in block.splitlines() if not line.startswith("#")]


def joined(table: Path, joint: str, **given: object) -> Iterator[str]:
    """The lines of each block of a table as one text.

    The first block has parts of the others, ``given`` are more.
    """
    parts, *others = blocks(table)
    known = [part.partition(" = ")[::2] for part in parts]
    for lines in others:
        whole = joint.join(lines)
        for name, part in (*known, *given.items()):
            whole = whole.replace(f"<{name}>", str(part))
        yield whole


def patterns(table: Path) -> Iterator[re.Pattern[str]]:
    """A pattern of each block of a table; the first block has parts of the others."""
    return (re.compile(whole, re.IGNORECASE) for whole in joined(table, "|"))


def words(table: Path) -> Iterator[frozenset[str]]:
    """The words of each block of a table, in which ``-`` stands for a space."""
    for lines in blocks(table):
        yield frozenset(word.replace("-", " ") for word in " ".join(lines).split())


_OURS, _STOP_EN, _FAINT_WORDS = words(Path(__file__).with_name("words.txt"))


@remembered(4_096)
def skeleton(text: str) -> str:
    """Letters and digits of a text, equal for texts that are easily confused.

    After Unicode Technical Standard #39, with tables of its confusables and of OpenCC.
    """
    norm = unicodedata.normalize("NFKC", text.translate(_LETTERS))
    bare = _ACCENTED.sub(lambda found: unicodedata.normalize("NFD", found[0])[0], norm)
    # Some look like a letter as a capital, others as a small letter.
    read = bare.translate(_LETTERS).casefold().translate(_LETTERS)
    plain = simplified(read).translate(_ALIKE)
    return "".join(character for character in plain if character.isalnum()) or norm


MAX_MESSAGE = 8_000
"""Characters of one message that are kept."""

MAX_NAME = 32
"""Characters of a name that are kept."""
MAX_ACCENTS = 2
"""Combining marks on one character of a name; more of them cover its neighbours."""
MARK = 4
"""Last characters of an account by which people of one name are told apart, at least."""

_MARK = re.compile(r"\((\w+)\)$")

# Unicode calls most of these default-ignorable; the others are blank or turn directions.
_UNSEEN = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U00013430-\U00013440"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINT = (
    "#*0-9\u00a9\u00ae\u0590-\u0dff\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
"""Emoji, and scripts whose letters join: what an invisible joiner may stand between."""
_CONTROL = f"\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{_UNSEEN}"
_SUSPECT = re.compile(f"[{_CONTROL}\u200c\u200d\ufe0e\ufe0f]")
_HIDDEN = re.compile(
    f"[{_CONTROL}]|(?<![{_JOINT}])[\ufe0e\ufe0f]|[\u200c\u200d](?![{_JOINT}])"
    f"|(?<![{_JOINT}])(?<![{_JOINT}][\ufe0e\ufe0f])[\u200c\u200d]"
)
_INVISIBLE = re.compile(f"[{_UNSEEN}\u200c\u200d\ufe0e\ufe0f]")
_SIGN = re.compile(
    f"[:<>|,、;{re.escape(SIGNS)}\u00ab\u00bb\u02d0\u02f9-\u02fc\u0589\u05c3\u0703\u0704"
    "\u1365\u16ec\u1804\u205a\u205d\u2223\u2236\u2237\u239b-\u23b6\u2502\ufe30]"
)
"""What looks like a colon, a comma, a bracket or a line between two columns."""
_ONESELF = re.compile(r"(?<!日)本\s*人|\bthem\s?sel(?:f|ves)\b", re.IGNORECASE)
_SAYS = re.compile(r"(?:说|曰|道|表示|sald|says)$")
_NOBODY = frozenset(map(skeleton, _OURS))
"""What lines are attributed to that nobody in particular said, and who has a say over the bot;
so nobody is called that."""
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003134f"
_HAN, _HAN_RUN = re.compile(f"[{CJK}]"), re.compile(f"[{CJK}]+")
_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][a-z]+)?", re.UNICODE)
_LATIN = re.compile(r"[A-Za-z0-9]+")
_NO_SYMBOLS = re.compile(r"[\sA-Za-z0-9]+")
_FENCE = str.maketrans("<>〔〕〘〙﹝﹞❲❳⦗⦘︹︺↪", "‹›()()()()()()→")
"""What fences, attributions and the mark of a quotation are made of."""


def clean(text: str, limit: int = MAX_MESSAGE) -> str:
    """``text`` fit to be stored anywhere.

    Lone surrogates, control and direction characters and whatever else nobody sees are
    removed (joiners stay between what they join), line ends become ``\\n``, and what
    exceeds ``limit`` characters is cut with an ellipsis.
    """
    if not text.isprintable():  # most lines are
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    if _SUSPECT.search(text):
        text = _HIDDEN.sub("", text)
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip("\u200c\u200d") + "…"


def text_hash(text: str) -> bytes:
    """16 bytes that stand for ``text`` in the vector cache."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def one_line(text: str, limit: int) -> str:
    """``text`` on a single line of at most ``limit`` characters."""
    return clean(" ".join(text.split()), limit)


def escape(text: str) -> str:
    """Text that can neither open nor close a fence or an attribution in a prompt."""
    return text.translate(_FENCE)


def fenced(text: str, limit: int) -> str:
    """Escaped text on a single line of at most ``limit`` characters."""
    return escape(one_line(text, limit))


_STATE = re.compile(r"(?<=\w)\s*[（(【\[][^（）()【】\[\]]*[)）\]】]\s*$")


@remembered(4_096)
def clean_name(text: str) -> str:
    """What somebody may be shown to be called; empty if there is nothing to call them.

    No part of it can be taken for a part of the line in which it stands: brackets, colons,
    commas and what looks like them are gone, and so is what nobody sees, and what stands in
    brackets at the end, which is how somebody is and no part of the name: 大王（加班中）.
    """
    kept = ""
    accents = 0
    text = _STATE.sub("", one_line(text, 4 * MAX_NAME))
    for character in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(character)
        accents = accents + 1 if kind[0] == "M" else 0
        is_loose = accents > (MAX_ACCENTS if kept.strip() else 0)
        if kind[0] == "C" or _INVISIBLE.match(character) or is_loose:
            continue
        kept += " " if _is_sign(character) else character
    name = one_line(_without_oneself(kept).lstrip(), MAX_NAME)
    is_seen = any(unicodedata.category(character)[0] in "LNS" for character in name)
    return name if is_seen and not _is_ours(name) else ""


def _without_oneself(name: str) -> str:
    """A name without what says of whom a line is, however often it does."""
    plain = simplified(unicodedata.normalize("NFKC", name))
    while (shorter := _ONESELF.sub("", plain)) != plain:
        name = plain = shorter
    return name


def _is_ours(name: str) -> bool:
    read = skeleton(name)
    return read in _NOBODY or _SAYS.sub("", read) in _NOBODY


def _is_sign(character: str) -> bool:
    parts = character + unicodedata.normalize("NFKC", character)
    return any(_SIGN.match(p) or unicodedata.category(p) in ("Ps", "Pe") for p in parts)


def normalise(name: str) -> str:
    """NFKC of a name, case-folded, single-spaced, without invisible characters."""
    norm = unicodedata.normalize("NFKC", name).casefold()
    if _INVISIBLE.search(norm):
        norm = _INVISIBLE.sub("", norm)
    return " ".join(norm.split())


def told_apart(name: str, user: str, others: Iterable[str]) -> str:
    """A name with the last characters of the account, if others are called that, too."""
    account = _account(user)
    rivals = {_account(other) for other in others} - {account}
    if not rivals:
        return name
    sizes = range(MARK, len(account))
    apart = (n for n in sizes if all(rival[-n:] != account[-n:] for rival in rivals))
    return f"{name}({account[-next(apart, len(account)) :]})"


def is_marked(name: str, user: str) -> bool:
    """Whether a name ends with a mark that an account does (see :func:`told_apart`)."""
    mark = _MARK.search(normalise(name))
    return mark is not None and normalise(_account(user)).endswith(mark[1])


def _account(user: str) -> str:
    return "".join(character for character in user.partition(":")[2] if character.isalnum())


def is_chinese(text: str) -> bool:
    """Whether a text is to be answered in Chinese: a fifth of its letters are Han."""
    han = sum(map(len, _HAN_RUN.findall(text)))  # of every document, so in few steps
    return han > 0 and han * 5 >= sum(map(str.isalpha, text))


def told_by(name: str, said: str, limit: int) -> str:
    """What is said, on one line, with a name before it that it does not have."""
    colon = "：" if is_chinese(said) else ": "
    is_named = normalise(name) in normalise(said)
    return one_line(said if is_named else f"{name}{colon}{said}", limit)


class _Stemmers(threading.local):
    """A stemmer for each thread, since it works on the word within itself."""

    @cached_property
    def one(self) -> Any:
        import snowballstemmer  # 5 MB that a chat in Chinese does without

        return snowballstemmer.stemmer("english")


_STEMMERS = _Stemmers()


@remembered(65_536)
def _stem(word: str) -> str:
    return str(_STEMMERS.one.stemWord(word))


def terms(text: str) -> list[str]:
    """Search terms: bigrams of simplified Chinese characters, stemmed words, numbers.

    A run of a single Chinese character yields that character. English stop words are
    left out. Order and repetition are kept.
    """
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", simplified(text)).casefold()):
        if _HAN.match(token):
            found += [token] if len(token) == 1 else [intern(a + b) for a, b in pairwise(token)]
        elif (word := token.split("'")[0].split("’")[0]) not in _STOP_EN:
            found.append(_stem(word))
    return found


def characters(text: str) -> list[str]:
    """Single simplified characters of words without spaces, repeated ones included."""
    return list(map(intern, _HAN.findall(unicodedata.normalize("NFKC", simplified(text)))))


def content(text: str) -> set[str]:
    """What a text is about: its words, and Chinese characters, that say something."""
    words = (word for word in terms(text) if word.isascii())
    return {each for each in (*words, *characters(text)) if significance(each)}


def tokens(text: str) -> int:
    """A safe estimate of how many model tokens ``text`` costs.

    One per Chinese character or other symbol, one per four letters of a word; modern
    tokenizers need fewer, so a budget kept by this estimate is kept in fact.
    """
    words = sum((len(word) + 3) // 4 for word in _LATIN.findall(text))
    return words + len(_NO_SYMBOLS.sub("", text))


# Stop words: in small talk everybody uses them, so sharing them is no sign of relevance.
_EMPTY = frozenset(
    "的了是在我你您他她它们这那哪有和就不也都很还吗呢吧啊哦噢嗯哈呵嘿呀嘛哎唉诶么什怎样个只一二两"
    "上下去来到说要想会能可以没好大多为与及或被把让给对从得着过再又才最更太真啥谁几些点里时候"
)
"""Characters that mostly carry grammar; a pair of two of them says nothing."""

FAINT, HALF = 0.25, 0.5


@remembered(65_536)
def significance(term: str) -> float:
    """How much a search term says, 0…1, whatever the memory."""
    if term in _FAINT_WORDS:
        return FAINT
    empty = sum(character in _EMPTY for character in term)
    if empty == 0:
        return 1.0
    return 0.0 if empty == len(term) else HALF


def says_something(terms: Iterable[str]) -> bool:
    """Whether a text of these terms is more than a greeting, a laugh or a nod."""
    return sum(significance(term) for term in set(terms)) >= HALF


PICKED = 4
"""Texts of which a digest is made."""
SHORTEST = 40
"""Characters that each of them may have, at least."""


def telling(texts: Sequence[str], count: int) -> list[int]:
    """Places of at most ``count`` texts that have most of what came up, in order.

    Greedy: a word counts once, for as many texts as have it; a long text is divided by the
    root of its length.
    """
    bags = [frozenset(terms(text)) for text in texts]
    worth = Counter(term for bag in bags for term in bag)
    left = set(range(len(bags)))
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(
            sorted(left),
            key=lambda at: sum(worth[term] for term in bags[at]) / math.sqrt(1 + len(bags[at])),
        )
        left.remove(best)
        chosen.append(best)
        for term in bags[best]:
            worth[term] = 0
    return sorted(chosen)


def digest(texts: Sequence[str], limit: int) -> str:
    """The most telling of some texts, in their order, in about ``limit`` characters."""
    chosen = telling(texts, PICKED)
    if not chosen:
        return ""
    each = max(SHORTEST, limit // len(chosen))
    some = dict.fromkeys(one_line(texts[at], each).rstrip("。.;；") for at in chosen)
    joint = "；" if is_chinese("".join(texts)) else "; "
    return one_line(joint.join(some), limit * 3 // 2)
