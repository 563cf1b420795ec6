"""Random histories of a whole memory: who said what, where and under which persona, who
came and left, what was learned, written, forgotten, taken back and put away.

A history is a list of steps, small frozen things that hypothesis can shrink;
``director.py`` plays them on a real memory. The cast is small, so that everything that
can touch does: the same words, names and things come up in every chat.
"""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from graph_memory.model import NO_PERSONA, EntityType, Session
from tests import makers

ACCOUNTS = ["1", "2", "3"]
PERSONAS = ["mei", "lan", NO_PERSONA]
CHATS = [
    makers.private("1", "mei"), makers.private("1", "lan"), makers.private("1", "mei", "998"),
    makers.private("2", "mei"), *(makers.group("9", persona) for persona in PERSONAS),
    makers.group("8", "mei"),
]  # fmt: skip
"""The third is one that an account of ours has for itself."""
PEOPLE = [makers.user(account) for account in ACCOUNTS]
WHO = ["小红", "张三", "阿明", "Anna"]
DOES = {
    "喜欢吃": "likes", "住在": "lives_in", "上周买了": "owns", "讨厌": "dislikes",
    "答应了": "promised",
}  # fmt: skip
WHAT = ["花生", "西安", "面馆", "red bicycle", "瑜伽课"]
THINGS = [makers.entity(what) for what in WHAT]
STEPS = [60.0, 400.0, 5_000.0]
"""Seconds between two steps: within an episode, beyond one, beyond several."""


@dataclass(frozen=True)
class Say:
    """Somebody, or the bot (``who`` is -1), says something."""

    chat: int
    who: int
    text: str
    name: str
    later: float


@dataclass(frozen=True)
class Learn:
    """What a Session has buffered is learned by rule, ``replaces`` known facts and all."""

    chat: int
    replaces: bool
    restates: bool


@dataclass(frozen=True)
class Know:
    """A fact stands there, however it came to be; it may link to any other."""

    chat: int
    subject: int
    object: int
    text: str
    speaker: int
    ago: float
    predicate: str
    supersedes: tuple[int, ...]
    cites: int
    pinned: bool
    importance: float


@dataclass(frozen=True)
class Call:
    """A person or thing is called something in a Session."""

    chat: int
    node: int
    text: str
    ago: float


@dataclass(frozen=True)
class Mark:
    """A thing came up in a Session."""

    chat: int
    thing: int
    type: EntityType
    ago: float


@dataclass(frozen=True)
class Sum:
    """The latest messages of a Session are summed up."""

    chat: int
    text: str
    length: int


@dataclass(frozen=True)
class Leave:
    """Somebody leaves a group; who speaks there again has come back."""

    chat: int
    who: int


@dataclass(frozen=True)
class Manage:
    """A fact is forgotten (by the owner, or whom it is about), put away, brought back;
    the newest change of the owner is undone."""

    what: str
    fact: int


@dataclass(frozen=True)
class Pause:
    """Somebody wants nothing more to be stored."""

    who: int


@dataclass(frozen=True)
class Join:
    """The owner says that two things, or two accounts, are one, or no longer."""

    what: str
    one: int
    other: int


@dataclass(frozen=True)
class Feel:
    """The companion keeps something of somebody in mind, and feels some way."""

    chat: int
    who: int
    text: str
    valence: float


Step = Feel | Say | Learn | Know | Call | Mark | Sum | Leave | Manage | Pause | Join

_chats = st.integers(0, len(CHATS) - 1)
_groups = st.sampled_from([i for i, chat in enumerate(CHATS) if chat.is_group])
_people = st.integers(0, len(PEOPLE) - 1)
_nodes = st.integers(0, len(PEOPLE) + len(THINGS) - 1)
_ago = st.sampled_from([0.0, 300.0, 4_000.0, 20_000.0])
_sentences = st.builds(
    lambda who, does, what: f"{who}{does}{what}",
    st.sampled_from(WHO),
    st.sampled_from(list(DOES)),
    st.sampled_from(WHAT),
)
KEEP = "，别告诉别人"
ASIDE = "这是秘密，别告诉别人"
_said = st.one_of(*[_sentences] * 4, _sentences.map(lambda text: text + KEEP), st.just(ASIDE))
_says = st.builds(
    Say, _chats, st.integers(-1, 2), _said, st.sampled_from(WHO), st.sampled_from(STEPS)
)
_knows = st.builds(
    Know, _chats, _nodes, _nodes, _sentences, _people, _ago,
    st.sampled_from(sorted(set(DOES.values()))), st.lists(st.integers(0, 9), max_size=2).map(tuple),
    st.integers(0, 2), st.booleans(), st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip
_goings = st.builds(Leave, _groups, _people)
_others = st.one_of(
    st.builds(Learn, _chats, st.booleans(), st.booleans()),
    st.builds(Call, _chats, _nodes, st.sampled_from([*WHO, *WHAT]), _ago),
    st.builds(Mark, _chats, st.integers(0, len(THINGS) - 1), st.sampled_from(EntityType), _ago),
    st.builds(Sum, _chats, _sentences, st.integers(1, 3)), _goings,
    st.builds(
        Manage, st.sampled_from(["forget", "forget", "own", "archive", "restore", "undo"]),
        st.integers(0, 9),
    ),
    st.builds(
        Join, st.sampled_from(["merge", "merge", "split", "link", "unlink"]), st.integers(0, 4),
        st.integers(0, 4),
    ),
    st.builds(Pause, _people),
    st.builds(Feel, _chats, _people, _sentences, st.sampled_from([-0.9, 0.0, 0.9])),
)  # fmt: skip
_blocks = st.tuples(_says, _knows, st.one_of(_says, _goings), _says, _others, _knows, _others)
"""Drawn together, so that a history that is short for hypothesis is not for us."""
histories: st.SearchStrategy[list[Step]] = st.lists(_blocks, min_size=2, max_size=7).map(
    lambda blocks: [step for block in blocks for step in block]
)

questions = st.one_of(
    _sentences,
    st.builds(lambda who, what: f"{who}和{what}怎么样？", *map(st.sampled_from, (WHO, WHAT))),
    st.builds(lambda what: f"昨天谁提到了{what}？另外，还有哪些？", st.sampled_from(WHAT)),
    st.sampled_from(["我喜欢什么？", "what do you know about me?", "大家都有哪些东西？"]),
)


def unseen(session: Session, persona: str) -> Session:
    """The same chat under a persona that nobody ever spoke to."""
    return replace(
        session, id=session.id.replace(f"#{session.persona}", f"#{persona}"), persona=persona
    )
