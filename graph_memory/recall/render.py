"""Rendering of the block that reminds the language model.

What people said is data: it stands on one line and cannot close the fence around it. Who
said it comes first, in brackets that are removed from texts and names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from enum import IntEnum
from math import inf

from ..dates import iso
from ..locales import TEXTS
from ..model import BOT, TASKS, Asker, Episode, Fact, Layer, Message
from ..privacy.scope import Rank, rank_of
from ..text import clean_name, fenced, is_chinese, remembered, tokens, told_apart
from .documents import Kind, Source, message_key
from .index import Index
from .ranking import Candidate
from .visible import VisibleSet

MAX_LINE = 400
"""Characters of one memory that are shown."""
LEAD_SHARE = 0.5
"""Share of a block's budget that the lines before the memories may take."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory as it is shown.

    Attributes:
        kind: ``fact``, ``message`` or ``episode``.
        at: When it was said (an episode: when it began).
        score: Comparable within one recall only.
        session: Session id.
        foreign: Whether it is another persona's.
        messages: Ids of messages that it shows word for word.
    """

    kind: str
    id: str
    text: str
    at: float
    score: float
    session: str
    foreign: bool
    messages: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What the index calls it."""
        is_message = self.kind == Kind.MESSAGE.name.lower()
        return message_key(int(self.id)) if is_message else self.id


class BlockPart(IntEnum):
    """Parts of the block, in order."""

    EARLIER = 0
    SPEAKER = 1
    RELATED = 2


Wording = Mapping[str, str]
"""What the block says in one language: the texts ``block_…``."""
ZH, EN = (
    {key.removeprefix("block_"): text for key, text in texts.items() if key.startswith("block_")}
    for texts in (TEXTS["zh"], TEXTS["en"])
)
OPEN, CLOSE = "<memories>", "</memories>"


def language_of(query: str, language: str) -> str:
    """Language of a query; without letters, the setting ``language``."""
    if any(character.isalpha() for character in query):
        return "zh" if is_chinese(query) else "en"
    return language


def wording(query: str, language: str) -> Wording:
    """The words of a block in the language of a query, see :func:`language_of`."""
    return ZH if language_of(query, language) == "zh" else EN


def preamble(lead: Iterable[Sequence[str]], words: Wording, budget: int | None) -> list[str]:
    """The lines of paragraphs (``RecallOptions.lead``) that fit into their share."""
    left = inf if budget is None else LEAD_SHARE * budget - _frame(words)
    fitting: list[str] = []
    for first, *lines in filter(None, lead):
        heading = first if lines else ""  # which comes with the first line below it that fits
        for line in lines or [first]:
            if (price := tokens(heading + line)) <= left:
                left -= price
                fitting += filter(None, (heading, line))
                heading = ""
    return fitting


def is_told(source: Source, lead: Sequence[str]) -> bool:
    """Whether the lines before the memories have a record, or a fact, already."""
    if isinstance(source, Fact):
        end = f" {fenced(source.statement, MAX_LINE)}"
        return any(line.endswith(end) for line in lead)
    return isinstance(source, Episode) and fenced(source.summary, MAX_LINE) in "\n".join(lead)


def task_note(fact: Fact, now: float, *, is_over: bool) -> str:
    """What is noted of a plan or a promise, as ``block_…`` says it; else nothing."""
    if fact.predicate not in TASKS:
        return ""
    if is_over:
        return "settled"
    return "overdue" if fact.due is not None and fact.due <= now else ""


def framed(lines: Sequence[str], note: str) -> str:
    """A block of some lines under a note; empty if there are none."""
    return "\n".join([OPEN, note, *lines, CLOSE]) if lines else ""


def without_name(text: str, who: str) -> str:
    """What somebody said, without their name before it, which stands in the brackets."""
    is_twice = bool(who) and text.startswith((f"{who}：", f"{who}: "))
    return text[len(who) + 1 :].lstrip() if is_twice else text


def _frame(words: Wording) -> int:
    """Tokens of what surrounds the lines of a block."""
    return _tokens(OPEN) + _tokens(CLOSE) + _tokens(words["note"])


@dataclass(eq=False, slots=True)
class Renderer:
    """Renders for one asker."""

    index: Index
    visible: VisibleSet
    asker: Asker
    words: Wording
    _zone: tzinfo
    _now: float
    _dates: dict[tuple[float, str], str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def item(self, candidate: Candidate) -> Item:
        """One memory by itself: its line is dated and attributed."""
        document, source = candidate.document, candidate.document.source
        return Item(
            document.kind.name.lower(),
            str(source.id),
            f"{self.date(document.at)} {self.line(candidate, alone=True)}",
            document.at,
            candidate.score,
            source.session,
            candidate.foreign,
            (source.id,) if isinstance(source, Message) else (),
        )

    def line(self, candidate: Candidate, *, alone: bool = False) -> str:
        """Who said a memory, notes, and what was said; ``alone`` or in the block."""
        source = candidate.document.source
        if isinstance(source, Fact):
            text = source.statement
        else:
            text = source.text if isinstance(source, Message) else source.summary
        text = fenced(text, MAX_LINE)
        if not alone and text.endswith(("。", ".")) and not text.endswith(".."):
            text = text[:-1]  # in a list nobody misses the full stop
        notes = self._notes(candidate)
        about = f"〔{self.words['joint'].join(notes)}〕" if notes else ""
        who = self.who(source, alone=alone)
        by = f"〔{who}〕" if who else "·"  # no line of a memory looks like a heading
        return self.words["line"].format(by=by, notes=about, text=without_name(text, who))

    def _notes(self, candidate: Candidate) -> list[str]:
        """Whether and when it was true, where it was said."""
        source, words, newer = candidate.document.source, self.words, candidate.replaced
        notes: list[str] = []
        if isinstance(source, Fact):
            notes += self._standing(source, newer)
        elif isinstance(source, Episode) and source.is_record:
            notes.append(words["until"].format(date=self.date(source.ended_at)))
        elif newer is not None:
            notes.append(words["replaced"])
        elif self._is_outdated(candidate):
            notes.append(words["changed"])
        session = self.index.sessions.get(source.session)
        title = clean_name(session.title) if session else ""
        if session and session.circle != self.asker.circle and title:
            notes.append(words["elsewhere"].format(title=title))
        if candidate.foreign:
            notes.append(words["foreign"])
        return notes

    def _is_outdated(self, candidate: Candidate) -> bool:
        """Whether something that was learned from it has been replaced or has ended since."""
        index, sight, source = self.index, self.visible, candidate.document.source
        positions = [candidate.position]
        if isinstance(source, Episode):
            told = index.documents.by_session[source.session]
            numbers = told.between(source.first_message, source.last_message)
            positions = [place for place in sight.positions[numbers].tolist() if place >= 0]
        for fact, place in set(sight.citations(positions)):
            known = index.documents[int(sight.numbers[fact])].source
            said = index.documents[int(sight.numbers[place])].at
            assert isinstance(known, Fact)
            # What says that something is over is none of it.
            has_ended = known.is_over(self._now) and not known.is_over(said)
            has_ended = has_ended and not known.is_former
            if has_ended or index.replaced_by(known.id, sight.views) is not None:
                return True
        return False

    def _standing(self, fact: Fact, newer: Fact | None) -> list[str]:
        words, vague = self.words, ""
        if newer is not None and newer.valid_to and newer.statement == fact.statement:
            fact, newer = newer, None  # the same, with its end
        ended = None if fact.valid_to is None else fact.valid_to - 1  # the last day, not the next
        notes = [words["hearsay"]] if fact.hearsay else []
        if fact.confidential:
            notes.append(words["confidential"])
        if ended is None and newer is not None:
            ended = newer.said_at if newer.valid_from is None else newer.valid_from
            vague = newer.precision
        is_changed = newer is not None and newer.predicate in TASKS
        note = "" if is_changed else task_note(fact, self._now, is_over=ended is not None)
        if note:
            notes.append(words[note])
        elif (newer or fact).corrects and ended is not None:
            notes.append(words["corrected"])
        elif fact.is_former and newer is None:
            # What was done is past anyway.
            notes += [words["formerly"]] if fact.predicate != "did" else []
        elif ended is not None:
            notes.append(words["until"].format(date=self.date(ended, vague)))
            notes += [words["replaced"]] if newer is not None else []
        elif fact.valid_from is not None and fact.valid_from > self._now:
            notes.append(words["since"].format(date=self.date(fact.valid_from, fact.precision)))
        return notes

    def who(self, source: Source, *, alone: bool = True) -> str:
        """Who said a memory, and of a fact whether of themselves; empty is the user."""
        if isinstance(source, Episode):
            return self.words["summary"]
        own, words = self.asker.accounts, self.words
        speaker = source.sender if isinstance(source, Message) else source.speaker
        name = self._called(speaker, source.name if isinstance(source, Message) else "")
        if isinstance(source, Fact) and name == words["nobody"]:
            name = self._called(speaker, self._signature(source))
        if speaker in own and not self.asker.is_group and (not alone or name == words["nobody"]):
            return words["oneself"] if alone else ""  # as the note says
        if isinstance(source, Message) or name == words["nobody"]:
            return name
        is_self = speaker == source.subject or {speaker, source.subject} <= own
        is_clear = name in source.statement  # of whom it is, and not of a namesake
        if not is_self or is_clear:
            return name
        called = self.index.names_of(speaker, self.visible.views)
        for other in sorted((each for each in called if each in source.statement), key=len):
            name = self._called(speaker, other)  # the steady one, not the card of the day
            if name == other:
                return name
        return words["themself"].format(name=name)

    def _called(self, user: str, name: str = "") -> str:
        """Name of a user (by default the last one), with a mark if there are namesakes."""
        if user == BOT:
            return self.words["bot"]
        if (user, name) not in self._names:
            views = self.visible.views
            shown = clean_name(name) or self._any_name(user)
            others = self.index.bearers(shown, views) - {user} if shown else set()
            if user in self.asker.accounts:
                others -= self.asker.accounts
            self._names[user, name] = told_apart(shown, user, others) or self.words["nobody"]
        return self._names[user, name]

    def _signature(self, fact: Fact) -> str:
        """The name under which somebody said a fact; they may bear it longer than is seen."""
        views, cited = self.visible.views, map(self.index.message, fact.evidence)
        told = (each for each in cited if each and fact.speaker == each.sender)
        seen = (each for each in told if rank_of(views.get(each.session), each) > Rank.HIDDEN)
        return next((each.name for each in seen), "")

    def _any_name(self, user: str) -> str:
        """The last name of a user; of whoever asks in private, any of their accounts'."""
        own = self.asker.accounts
        is_mine = user in own and not self.asker.is_group
        accounts = (user, *sorted(own - {user})) if is_mine else (user,)
        names = (self.index.called(each, self.visible.views) for each in accounts)
        return next(filter(None, names), "")

    def date(self, at: float, precision: str = "") -> str:
        if (at, precision) not in self._dates:
            self._dates[at, precision] = iso(at, self._zone, precision)
        return self._dates[at, precision]

    def group(self, candidate: Candidate) -> BlockPart:
        """Part of the block that a memory belongs in."""
        source = candidate.document.source
        if not isinstance(source, Fact):
            return BlockPart.EARLIER
        about = source.layer is Layer.KNOWS and source.subject in self.asker.accounts
        return BlockPart.SPEAKER if about else BlockPart.RELATED

    def heading(self, candidate: Candidate, lead: Sequence[str]) -> str:
        """What stands above a part of the block; the note does above what comes first."""
        part = self.group(candidate)
        if part is BlockPart.EARLIER and not lead and not candidate.foreign:
            return ""
        return f"{self.words[part.name.lower()]}:"

    def block(self, chosen: list[Candidate], lead: Sequence[str] = ()) -> str:
        """The block, ``lead`` first; empty without lines."""

        def order(c: Candidate) -> tuple[bool, BlockPart, float, str]:
            return c.foreign, self.group(c), c.document.at, c.document.key

        lines, part, day = list(lead), (False, ""), ""
        for candidate in sorted(chosen, key=order):  # not by score, for prompt caches
            if (here := (candidate.foreign, self.heading(candidate, lead))) != part:
                part, day = here, ""
                lines.append(part[1])
            if (date := self.date(candidate.document.at)) != day:
                lines.append(date[5:] if day[:4] == date[:4] else date)
                day = date
            lines.append(self.line(candidate))
        return framed(lines, self.words["note"])


class TokenTally:
    """Tokens of a block as memories are added, at most a little too many.

    ``budget`` is ``None`` for any number; ``lead`` comes before the memories.
    """

    def __init__(
        self, renderer: Renderer, budget: int | None = None, lead: Sequence[str] = ()
    ) -> None:
        self._renderer = renderer
        self._prices: dict[str, int] = {}  # of memories below their dates
        self._there: set[tuple[bool, str, str]] = set()  # headings, years and days
        self._lead = lead
        self.budget = budget
        self.total = _frame(renderer.words) + sum(map(tokens, lead))

    def take(self, candidate: Candidate) -> bool:
        """Count a memory, if it fits."""
        if self.budget is None:
            return True
        price = self.price(candidate)
        if self.total + price > self.budget:
            return False
        self.total += price
        self._there.update(self._above(candidate))
        return True

    def price(self, candidate: Candidate) -> int:
        """Tokens that a memory would add, with its heading and date."""
        key, above = candidate.document.key, self._above(candidate).items()
        if key not in self._prices:
            self._prices[key] = tokens(self._renderer.line(candidate))
        new = sum(_tokens(text) for place, text in above if place not in self._there)
        return self._prices[key] + new

    def _above(self, candidate: Candidate) -> dict[tuple[bool, str, str], str]:
        """Heading, year and day above a memory, as keys and texts."""
        foreign, day = candidate.foreign, self._renderer.date(candidate.document.at)
        heading, year = self._renderer.heading(candidate, self._lead), f"{day[:4]}-"
        return {
            (foreign, heading, ""): heading,
            (foreign, heading, year): year,
            (foreign, heading, day): day[5:],
        }


@remembered(1_024)
def _tokens(text: str) -> int:
    return tokens(text)
