"""Small random histories: who said and was told what, where and when."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC

from hypothesis import strategies as st

from graph_memory.model import (
    Asker,
    Episode,
    Fact,
    Forgotten,
    Link,
    Merge,
    Message,
    Presence,
    Row,
    Session,
    Status,
    stable_id,
)
from graph_memory.privacy.scope import Attendance, Policy, view
from graph_memory.recall.documents import VectorIndex
from graph_memory.recall.index import Index
from graph_memory.recall.ranking import Candidate
from graph_memory.recall.render import ZH, Renderer, Wording
from graph_memory.recall.visible import VisibleSet
from tests.makers import T0, entity, fact, group, name, private, user

from .hashing import vector

MODEL = "hashing"
USERS = [user("1"), user("2")]
SESSIONS = [
    private("1", "mei"),
    private("1", "lan"),
    private("2", "mei"),
    group("9", "mei"),
    group("9", "lan"),
]
WHO = ["小红", "张三", "the cat", "小明"]
DOES = ["喜欢吃", "讨厌", "上周买了", "moved to", "works at", "对过敏的是"]
WHAT = ["花生", "西安的面馆", "Docker", "the red bicycle", "芒果", "瑜伽课"]
ENTITIES = [entity(what) for what in WHAT]


@dataclass
class History:
    """Rows as they stand in the end, and how they came to stand so.

    Attributes:
        steps: Rows and messages in the order they were written; a row may come again.
    """

    steps: list[Row | Message] = field(default_factory=list)
    presences: list[Presence] = field(default_factory=list)

    def final(self) -> list[Row | Message]:
        """The newest state of everything, in the order of its first coming."""
        latest: dict[tuple[str, str], Row | Message] = {}
        for step in self.steps:
            kind = "message" if isinstance(step, Message) else step.kind
            latest[kind, str(step.id)] = step
        return list(latest.values())


def index_of(steps: Iterable[Row | Message]) -> Index:
    """An index with vectors, fed with these steps."""
    index = Index()
    for _ in followed(index, steps):
        pass
    return index


def followed(index: Index, steps: Iterable[Row | Message]) -> Iterator[Row | Message]:
    """Feed an index with steps and vectors; pauses after each."""
    index.use(VectorIndex(MODEL, 0.2))
    for step in steps:
        if isinstance(step, Message):
            index.put_message(step)
        else:
            index.put(step)
        items = index.vectorless(100)
        index.put_vectors(items, [vector(item.text) for item in items], MODEL)
        yield step


def candidates(index: Index, sight: VisibleSet) -> list[Candidate]:
    """Everything in sight, as if it had been chosen."""
    documents = [index.documents[int(number)] for number in sight.numbers]
    return [Candidate(at, each, 0, 1.0, 1.0, False, ()) for at, each in enumerate(documents)]


def rendering(
    index: Index, here: Session, asker: Asker, words: Wording = ZH, now: float = T0
) -> tuple[Renderer, list[Candidate]]:
    """What writes down what somebody sees of a chat, and all of that."""
    sight = index.visible({here.id: view(here, asker, Policy(), Attendance())})  # type: ignore[dict-item]
    return Renderer(index, sight, asker, words, UTC, now), candidates(index, sight)


sentences = st.builds(
    lambda who, does, what: f"{who}{does}{what}",
    st.sampled_from(WHO),
    st.sampled_from(DOES),
    st.sampled_from(WHAT),
)
moments = st.integers(0, 40).map(lambda n: T0 + 300.0 * n)


merges = st.builds(
    lambda node, into: Merge(stable_id("j", node), node, into, T0),
    st.sampled_from(ENTITIES),
    st.sampled_from(ENTITIES),
)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A history of up to thirty steps."""
    history = History(list(SESSIONS))
    facts: list[Fact] = []
    messages: list[Message] = []
    for number in range(draw(st.integers(4, 30))):
        session = draw(st.sampled_from(SESSIONS))
        at = draw(moments)
        speaker = session.owner or draw(st.sampled_from(USERS))
        kind = draw(st.sampled_from("mmmmfffnexrgl"))
        if kind == "m":
            text = draw(sentences)
            called = draw(st.sampled_from(WHO))
            said = Message(number + 1, session.id, speaker, called, text, at)
            messages.append(said)
            history.steps.append(said)
        elif kind == "f":
            made = _fact(draw, session, speaker, at, facts, messages, number)
            facts.append(made)
            history.steps.append(made)
        elif kind == "n":
            node = draw(st.sampled_from([*USERS, *ENTITIES]))
            history.steps.append(name(session, node, draw(st.sampled_from(WHO + WHAT)), at))
        elif kind == "e":
            id = stable_id("ep", str(number))
            history.steps.append(Episode(id, session.id, at, at + 600, 1, 3, 3, draw(sentences)))
        elif kind == "x" and messages:
            gone = draw(st.sampled_from(messages))
            history.steps.append(Forgotten.of(gone.session, gone.id))
        elif kind == "g":
            history.steps.append(draw(merges))
        elif kind == "l":
            history.steps.append(Link("link", *USERS))
        elif kind == "r" and facts:
            old = draw(st.sampled_from(facts))
            changed = replace(
                old,
                statement=draw(st.one_of(st.just(old.statement), sentences)),
                status=draw(st.sampled_from([Status.ACTIVE.value, Status.ARCHIVED.value])),
            )
            facts[facts.index(old)] = changed
            history.steps.append(changed)
    for who in USERS:
        since = draw(moments)
        until = draw(st.one_of(st.none(), moments.map(lambda at: at + 1)))
        history.presences.append(Presence(group("9").circle, who, since, until))
        again = draw(st.one_of(st.none(), moments))
        if again is not None and until is not None and again > until:
            history.presences.append(Presence(group("9").circle, who, again))
    return history


def _fact(
    draw: st.DrawFn,
    session: Session,
    speaker: str,
    at: float,
    facts: list[Fact],
    messages: list[Message],
    number: int,
) -> Fact:
    own = [message.id for message in messages if message.session == session.id]
    return fact(
        session,
        draw(st.sampled_from([*USERS, *ENTITIES])),
        draw(st.sampled_from(ENTITIES)),
        draw(sentences),
        at=at,
        id=f"f{number}",
        speaker=speaker,
        evidence=tuple(draw(st.lists(st.sampled_from(own), max_size=2, unique=True)))
        if own
        else (),
        supersedes=tuple(
            draw(st.lists(st.sampled_from([f.id for f in facts]), max_size=1)) if facts else ()
        ),
    )
