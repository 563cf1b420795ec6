"""Redaction of secrets: keys, tokens, passwords, card and identity numbers.

What services issue is recognised by the patterns of ``detect-secrets``; what people say
(密码是…) and the numbers of cards and of Chinese identity cards here. The words stay in the
journal; no model and no block sees them. Whether a message is shown at all is for ``scope.py``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

from ..model import Asker, Data, Message, kind_named
from ..text import patterns, simplified

MASK = "••••••"
_ZH, _EN = "〇零幺一二三四五六七八九", "zero oh one two three four five six seven eight nine"
_NUMERALS = dict(zip([*_ZH, *_EN.split()], "00112345678900123456789", strict=True))
_DIGIT = rf"(?:{'|'.join(_NUMERALS)})"
_BETWEEN = r"[ ,，、.\-]{0,2}"
_SPELT = re.compile(rf"(?<![a-z]){_DIGIT}(?:{_BETWEEN}{_DIGIT}){{3,}}(?![a-z])", re.IGNORECASE)
"""A number of four digits or more, said digit by digit."""
_PRINTED = re.compile(rf"[!-~\uff01-\uff5e]{{3}}|[{_ZH}]{_BETWEEN}[{_ZH}]|[密暗][码碼号號]|口令")
_RUN = re.compile(r"(?<![A-Za-z0-9_+/=.\-])[A-Za-z0-9_+/=.\-]{16}")
_NUMBER = re.compile(r"(?<![0-9])[0-9][0-9 ._\-]{11}")
_WORDS = (
    "码", "口令", "暗号", "钥", "令牌", "助记词", "pass", "pw", "pin", "code", "otp", "key",
    "token", "secret", "bearer", "://", "phrase", "mnemonic", "cvv", "cvc",
    "护照", "证", "驾照", "社保", "医保", "ssn", "social security", "insurance", "licen",
    "ni number",
)  # fmt: skip
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk|ak|key|token|sess|hf|npm|gh[a-z]|github_pat|glpat|xox[a-z])"
    r"[-_][A-Za-z0-9_\-]{16,}|(?<![A-Za-z0-9])eyJ[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]+){1,2}|(?<![A-Za-z0-9])(?-i:AIza|LTAI|AKID)[A-Za-z0-9_\-]{12,}",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.DOTALL)
_SAID, _THEN = patterns(Path(__file__).with_suffix(".txt"))
_SENTENCE = """
    wrong incorrect right correct not too still the that this gone weak strong expired same secret
    forgotten lost invalid required safe long short here there very what where only saved stored
    changed different hidden empty blank needed missing easy hard known protected case and but for
"""
"""What may follow "the password is" in a sentence that tells none."""
_GAP = r"[ ._\-]{1,2}"
_DIGITS = re.compile(  # looked for at each place: a number may begin within another
    r"(?<![0-9A-Za-z])(?=([0-9]{13,19}[Xx]?"
    rf"|[0-9]{{4}}(?:{_GAP}[0-9]{{4}}){{2,3}}(?:{_GAP}[0-9]{{1,7}})?|[0-9]{{4}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{5}}"
    rf"|[0-9]{{6}}{_GAP}[0-9]{{8}}{_GAP}[0-9]{{3}}[0-9Xx])(?![0-9]))"
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_LEFT_OUT = (
    "Public IP", "Basic Auth", "NPM", "Private Key", "Artifactory", "Cloudant", "IBM", "SoftLayer",
)  # fmt: skip
"""Detectors of what chats are full of, of settings in files, or that take long over some text."""
_WINDOW, _OVERLAP = 2_000, 500
"""Characters of a line that detectors look at at once, since some take long over much."""


def redacted(text: str, also: Collection[str] = ()) -> str:
    """``text`` with :data:`MASK` in the place of each secret, ``also`` known ones."""
    for secret in sorted({*secrets(text), *also}, key=lambda each: (-len(each), each)):
        text = text.replace(secret, MASK)
    return text


def secrets(text: str) -> list[str]:
    """The secrets in a text, as they are written there."""
    if not _PRINTED.search(text):
        return []
    # A Chinese comma is in no password, an ASCII one may be.
    plain = simplified(normalize("NFKC", text.replace("，", "、")))
    if not _may_hold(plain):
        return []
    runs = [run.span() for run in _SPELT.finditer(text)]
    if plain == text and not runs:
        return list(_secrets(text))
    # Each letter by itself, so that it is known which one became which.
    letters = [simplified(normalize("NFKC", each)) for each in text.replace("，", "、")]
    ends = list(range(1, len(text) + 1))
    for start, end in runs:
        letters[start:end] = [""] * (end - start)
        for digit in re.finditer(_DIGIT, text[start:end], re.IGNORECASE):
            letters[start + digit.start()] = _NUMERALS[digit[0].lower()]
            ends[start + digit.start()] = start + digit.end()
    places = [at for at, letter in enumerate(letters) for _ in letter]
    plain = "".join(letters)
    return [
        text[places[found.start()] : ends[places[found.end() - 1]]]
        for secret in dict.fromkeys(_secrets(plain))
        for found in re.finditer(re.escape(secret), plain)
    ]


def _may_hold(text: str) -> bool:
    """Whether a text has anything that a secret begins with; most have not."""
    lower = text.lower()
    is_said = any(word in lower for word in _WORDS)
    return is_said or bool(_RUN.search(text) or _NUMBER.search(text))


def _secrets(text: str) -> Iterator[str]:
    yield from _BLOCK.findall(text)
    text = _BLOCK.sub("", text)
    place = 0
    while said := _SAID.search(text, place):
        secret = _said(said)
        yield from secret
        # What is none may begin to tell one: 密码忘了 password: …
        place = said.end() if secret else max(said.start(said.lastgroup or 0), place + 1)
        if secret and (then := _THEN.match(text, place)):
            yield from _said(then)
            place = then.end()
    for found in _DIGITS.findall(text):
        for number in (found, re.sub(rf"{_GAP}[0-9]+$", "", found)):
            plain = re.sub(r"[ ._\-]", "", number).upper()
            if _is_card(plain) or _is_identity(plain):
                yield number
                break
    yield from _KEY.findall(text)
    if _RUN.search(text):
        for line in text.splitlines():
            for start in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
                piece = line[start : start + _WINDOW]
                for pattern in _patterns():
                    yield from (found[0] for found in pattern.finditer(piece))


def _said(said: re.Match[str]) -> list[str]:
    """What somebody says their password, code or key is, unless it is a sentence."""
    kind = said.lastgroup or ""
    secret = said[kind].rstrip(",.;:!?)]}\"'")
    before = said.string[said.start() : said.start(kind)].rstrip(" \"'“\n")
    is_word = secret.replace("'", "").isalpha()
    is_sentence = (
        (kind == "long" and (is_word or secret.isdigit()))
        or (kind in ("zh", "en") and said[kind].endswith((":", "=")))  # what a secret is named
        or (kind in ("zh", "en") and len(secret) < 4 and before[-1:] not in (":", "="))
        or (kind == "zh" and re.search("(?<!现)在$|见$", before))  # where it is
        or (kind == "zh" and is_word and not re.search(r"(?:[是为叫:=]|[改换]成了?)$", before))
        or (kind == "zh" and "\n" in said[0] and not re.search("[是为叫:=成了码令号]$", before))
        or (kind == "en" and before[-1:].isalpha() and secret.lower() in _SENTENCE.split())
    )
    return [] if is_sentence or (kind != "han" and len(secret) < 3) else [secret]


def _is_card(number: str) -> bool:
    """Whether a number is one of a bank card: its Luhn sum ends in 0 (ISO/IEC 7812-1)."""
    if not number.isdigit() or number[0] not in "3456" or len(number) in (12, 18):
        return False
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(number)))
    return sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


def _is_identity(number: str) -> bool:
    """Whether a number is one of a Chinese identity card (GB 11643-1999, or 1989)."""
    if not number[:17].isdigit() or not "11" <= number[:2] <= "82":
        return False
    if len(number) == 15:  # until 2013, without century and check digit
        return "01" <= number[8:10] <= "12" and "01" <= number[10:12] <= "31"
    if len(number) != 18 or number[6:8] not in ("19", "20"):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == number[17]


@lru_cache(maxsize=1)
def _patterns() -> list[re.Pattern[str]]:
    # Not at the start: it imports four hundred modules, and most chats never need it.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    kinds = get_mapping_from_secret_type_to_class().items()
    used = [kind for name, kind in kinds if not any(word in name for word in _LEFT_OUT)]
    return [pattern for kind in used for pattern in getattr(kind(), "denylist", ())]


def disclosed(message: Message, asker: Asker | None = None) -> Message:
    """A message as ``asker`` may read it; its secrets are for its sender, in private.

    By default it is as everybody may read it, models included.
    """
    if asker and not asker.is_group and message.sender in asker.accounts:
        return message
    text = redacted(message.text)
    return message if text == message.text else replace(message, text=text)


def masked(kind: str, data: Data) -> Data:
    """A row's data without secrets."""
    cls = kind_named(kind)
    words = {field: redacted(data[field]) for field in cls.words if data.get(field)} if cls else {}
    return {**data, **words}
