"""What people said: the story that the web UI's tests (and its screenshots) are about.

``story.jsonl`` has a line for each fact, as in the journal it comes from: subject, relation,
object, statement, days ago, and what else :class:`Said` has. The last talk is hostile, and is here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graph_memory.model import Session, session_of
from tests.cases import rows

ZHANG, LI, HONG, MING = "aiocqhttp:10001", "aiocqhttp:10002", "aiocqhttp:10003", "telegram:42"
MALLORY = "aiocqhttp:666"

XSS = (
    "<img src=x onerror=alert(1)>", "\"><script>alert('persona')</script>",
    "'-alert(2)-'<svg onload=alert(2)>", "</script><script>alert(3)</script>",
    "javascript:alert(4)//{{7*7}}${7*7}", "</title><iframe srcdoc='<script>alert(5)</script>'>",
    "]]><style>*{display:none}</style><math><mi xlink:href=javascript:alert(6)>x",
)  # fmt: skip
"""Text that would run if any page forgot to escape it."""

NICKNAMES = {ZHANG: "张三", LI: "李四", HONG: "小红", MING: "王小明", MALLORY: XSS[0]}


@dataclass(frozen=True, slots=True)
class Said:
    """One fact and the line it comes from.

    Attributes:
        object: A user id, or ``type/name`` of an entity.
        days: How long ago it was said.
        replaces: Statement of the fact it replaces.
    """

    subject: str
    predicate: str
    object: str
    statement: str
    days: float
    importance: float = 0.5
    line: str = ""
    speaker: str = ""
    times: int = 1
    replaces: str = ""
    ended: float | None = None
    pinned: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """A session and what was learned in it."""

    session: Session
    said: list[Said] = field(default_factory=list)
    summary: str = "聊了近况"


PEOPLE = {"ZHANG": ZHANG, "LI": LI, "HONG": HONG, "MING": MING}
PLACES = {
    "work": session_of("aiocqhttp", "", "10001", "tech_assistant"),
    "life": session_of("aiocqhttp", "", "10001", "life_advisor"),
    "hikers": session_of("aiocqhttp", "88001", "10002", "tech_assistant", title="周末爬山小队"),
    "telegram": session_of("telegram", "", "42", "[%None]"),
}
"""Where each part of ``story.jsonl`` was said."""


def _said(row: list[Any]) -> Said:
    subject, predicate, object, statement, days, *more = row
    fields = {key: PEOPLE.get(value, value) for key, value in (more or [{}])[0].items()}
    ends = PEOPLE.get(subject, subject), predicate, PEOPLE.get(object, object)
    return Said(*ends, statement, days, **fields)


def talks() -> Iterator[Talk]:
    """All conversations of the story, in the order in which they are stored."""
    for name, place in PLACES.items():
        yield Talk(place, [_said(row) for row in rows(__file__, name)])
    yield Talk(
        session_of("aiocqhttp", "99<b>9", "666", XSS[1], title=XSS[2]),
        [
            Said(MALLORY, "is_named", f"person/{XSS[3]}", XSS[3], 6, 0.5, XSS[0]),
            Said(MALLORY, "likes", f"thing/{XSS[4]}", f"喜欢 {XSS[4]}", 6, 0.5, XSS[4]),
            Said(f"thing/{XSS[4]}", "other", f"work/{XSS[5]}", XSS[5], 5, 0.4, XSS[5]),
            Said(MALLORY, "believes", f"topic/{XSS[6]}", XSS[6], 5, 0.4, XSS[6]),
            Said(MALLORY, "friend_of", ZHANG, f"{XSS[0]} 和张三是朋友", 4, 0.4, XSS[3]),
            Said(MALLORY, "other", "topic/很长的话", "一" * 300 + "abc" * 100, 4, 0.2),
        ],
        f"{XSS[3]} {XSS[5]}",
    )
