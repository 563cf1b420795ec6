"""Requests to keep what was said between those who talk."""

from __future__ import annotations

import re

_MAYBE = re.compile(r"别|不|瞒|保密|秘密|secret|tell|between|keep|nobody|no one", re.IGNORECASE)
_KEEP = re.compile(
    r"(?:别|不要|不许|不准|不能|千万别|先别)(?:去|再|先|跟|和|对|给|向|把)?"
    r"(?:[^，。,.！!？?；;\n]{0,8})?(?:告诉(?!我(?:又|你|说|其实|这|那|没|不|已|是|还|今|明|\W|$))|说出去|讲出去|传出去|外传|声张|透露|泄露|让[^，。,.！!？?；;\n]{1,8}知道)"
    r"|(?:不想|不希望|不愿意)(?:让)?[^，。,.！!？?；;\n]{0,8}知道"
    r"|(?:帮我|替我|要|请|先|记得|一定|务必)(?:保密|瞒着)|保密(?:哦|啊|哈|呀|！|!|$)|瞒着(?:他|她|大家|我)"
    r"|这是(?:个|我们的)?秘密|你知我知"
    r"|\b(?:don['’]?t|do not|never) (?:you )?tell\b(?! me)|\bkeep (?:it|this|that) "
    r"(?:secret|quiet|private|to yourself|between us)\b|\bbetween (?:you and me|us)\b"
    r"|\bit['’]?s a secret\b|\b(?:nobody|no one) (?:else )?(?:should|must|may) know\b",
    re.IGNORECASE,
)


def reaches_back(text: str) -> bool:
    """Whether a request to keep something means what was said right before it."""
    rest = _KEEP.sub("", text)
    return asks_to_keep(text) and len(re.findall(r"\w", rest)) <= 8


def asks_to_keep(text: str) -> bool:
    """Whether a message asks that something be told to nobody, or to somebody not."""
    return _MAYBE.search(text) is not None and _KEEP.search(text) is not None
