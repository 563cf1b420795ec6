"""The words scenes are written in. How to add a scene: see the package."""

from dataclasses import dataclass, field
from typing import Any

BOT = "BOT"


UNKNOWN = "?"
"""Speaker of what nobody in particular is known to have said."""


@dataclass(frozen=True)
class Sitting:
    """People talk, then what they said is learned.

    Attributes:
        at: When the first line is said (China Standard Time); half a minute passes
            between lines.
        lines: ``who: text``. Where somebody is called differently than before or than
            their account, ``account/what they are called: text``. ``BOT`` is the bot.
        answers: What the model answers, one for each call; it must be called exactly that
            often. A dict is a tool call, a string plain text, ``None`` a failure.
        group: Number of the group; empty in the private chat of the first person.
        learn: Whether to flush afterwards; without it, the lines are learned together
            with the next sitting in the same chat window.
        asked: Whether each line is one that the command has remembered.
        shown, hidden: What the model must and must not be shown.
    """

    at: str
    lines: tuple[str, ...]
    answers: tuple[Any, ...] = ()
    group: str = ""
    persona: str = "mei"
    learn: bool = True
    asked: bool = False
    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pause:
    """Somebody, or a whole group, asks that nothing new be remembered."""

    who: str = ""
    group: str = ""


@dataclass(frozen=True)
class Resume(Pause):
    """The end of a :class:`Pause`."""


@dataclass(frozen=True)
class Leave:
    """The platform says that somebody left a group."""

    at: str
    who: str
    group: str


Step = Sitting | Pause | Leave


@dataclass(frozen=True)
class Expected:
    """One fact that must be there.

    Attributes:
        subject, object: An account, ``BOT`` or the name of a thing; an empty object is any.
        predicate: As the scripted model says it.
        says: Every one of these is in the statement; ``a|b`` is either.
        alike: Other predicates that a real model may choose as well.
        state: ``current``, ``replaced`` by a newer fact, or ``over``.
        since: The day it began (``2026-05-03``).
        until: The day it ended.
        speaker: Account of who said it; default: the subject, if that is a person who chats.
        replaces: It replaces facts that say these.
        corrects: The bot had said from memory what it replaces, and was told so.
        uses: How often it was said.
        group, persona: Where it belongs; not checked if ``None``.
    """

    subject: str
    predicate: str
    object: str = ""
    says: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    state: str = "current"
    since: str = ""
    until: str = ""
    speaker: str = ""
    replaces: tuple[str, ...] = ()
    corrects: bool = False
    uses: int = 0
    group: str | None = None
    persona: str | None = None


@dataclass(frozen=True)
class Ask:
    """What somebody is reminded of.

    Attributes:
        gets: Each is in one of the memories.
        lacks: None is in any; a single ``*``: nothing at all is remembered.
        outdated: Each is in a memory that is marked as no longer true.
        at: Default: the day after the last sitting.
    """

    who: str
    text: str
    gets: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    group: str = ""
    persona: str = "mei"
    at: str = ""


@dataclass(frozen=True)
class Scene:
    """A story and what is left of it in the memory.

    Attributes:
        name: Unique; pytest shows it and ``--only`` takes it.
        title: What it is about, for people.
        facts: All facts that are there afterwards, no others.
        never: No fact says this.
        nobody: Nothing and nobody is called this (in addition to the words that never
            name anybody, which are checked in every scene).
        names: What somebody or something was called: by account, or by one of its names.
        nodes: How many things, or people who do not chat, go by a name.
        settings: Settings other than the defaults.
        waiting: Batches that could not be learned and wait for another try.
        live: Whether the conversation also says something about a real model; not so
            where only a scripted answer makes the point.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    facts: tuple[Expected, ...] = ()
    never: tuple[str, ...] = ()
    nobody: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    asks: tuple[Ask, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    waiting: int = 0
    live: bool = True


@dataclass(frozen=True)
class Shown:
    """Stands in an answer for the number under which a known fact is shown."""

    text: str


@dataclass(frozen=True)
class Label:
    """Stands in an answer for the label of a known person or thing."""

    name: str


NOTHING: dict[str, Any] = {"worth": False, "summary": "", "entities": [], "facts": []}
"""Nothing worth remembering."""
