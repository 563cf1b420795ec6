"""Redaction of secrets: keys, tokens, passwords, card and identity numbers.

What services issue is recognised by the patterns of ``detect-secrets``; what people say
(密码是…) and the numbers of cards and of Chinese identity cards here. The words stay in the
journal; no model and no block sees them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

MASK = "••••••"
_ASCII = re.compile(r"[!-~]{4}")
_RUN = re.compile(r"(?<![A-Za-z0-9_+/=.\-])[A-Za-z0-9_+/=.\-]{16}")
_NUMBER = re.compile(r"(?<![0-9])[0-9][0-9 \-]{11}")
_WORDS = ("密码", "口令", "验证码", "passw", "passcode", "pwd", "private key")
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk|ak|key|token)[-_][A-Za-z0-9_\-]{16,}", re.IGNORECASE
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.DOTALL)
_SAID = re.compile(
    r"(?:密码|口令|验证码)[^A-Za-z0-9，。,.;；？?\n]{0,8}(?P<zh>[!-~]{4,64})"
    r"|(?:password|passcode|pwd) {0,2}(?:is|was|[:=]) {0,2}[\"']?(?P<en>[!-~]{4,64})",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![0-9A-Za-z])[0-9](?:[ \-]?[0-9]){12,18}[Xx]?(?![0-9A-Za-z])")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_LEFT_OUT = (
    "Public IP", "Basic Auth", "NPM", "Private Key", "Artifactory", "Cloudant", "IBM", "SoftLayer",
)  # fmt: skip
"""Detectors of what chats are full of, of settings in files, or that take long over some text."""


def redacted(text: str, also: Collection[str] = ()) -> str:
    """``text`` with :data:`MASK` in the place of each secret, ``also`` known ones."""
    for secret in sorted({*secrets(text), *also}, key=lambda each: (-len(each), each)):
        text = text.replace(secret, MASK)
    return text


def secrets(text: str) -> list[str]:
    """The secrets in a text, as they are written there."""
    if not _may_hold(text):
        return []
    blocks = _BLOCK.findall(text)
    lines = _BLOCK.sub("", text).splitlines()
    return [*blocks, *(secret for line in lines for secret in _secrets(line))]


def _may_hold(text: str) -> bool:
    """Whether a text has anything that a secret begins with; most have not."""
    if not _ASCII.search(text):
        return False
    lower = text.lower()
    is_said = any(word in lower for word in _WORDS)
    return is_said or bool(_RUN.search(text) or _NUMBER.search(text))


def _secrets(line: str) -> Iterator[str]:
    for said in _SAID.finditer(line):
        secret = said["zh"] or said["en"]
        if said["zh"] or not secret.strip("\"'.,!?").isalpha():  # "the password is wrong"
            yield secret
    for number in _DIGITS.findall(line):
        plain = re.sub(r"[ \-]", "", number).upper()
        if _is_card(plain) or _is_identity(plain):
            yield number
    yield from _KEY.findall(line)
    if _RUN.search(line):
        for pattern in _patterns():
            yield from (found[0] for found in pattern.finditer(line))


def _is_card(number: str) -> bool:
    """Whether a number is one of a bank card: its Luhn sum ends in 0 (ISO/IEC 7812-1)."""
    if not number.isdigit() or number[0] not in "3456" or len(number) == 18:
        return False
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(number)))
    return sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


def _is_identity(number: str) -> bool:
    """Whether a number is one of a Chinese identity card (GB 11643-1999)."""
    if len(number) != 18 or number[6:8] not in ("19", "20") or not number[:17].isdigit():
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
