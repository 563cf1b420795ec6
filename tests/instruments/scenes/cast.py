"""All scenes, and the form they are written in.

``written/*.txt`` has them, one after the other. Its lines (`` | `` stands between values, ``; ``
between several in one, ``\\n`` for the end of a line, ``«300×text»`` for a text 300 times over,
``300× `` before a line for as many of it, each with its number for ``#``):

- ``# name title`` begins a scene
- ``== 2026-03-02 20:00 group 100``: a :class:`Sitting`; ``as ruo`` is another persona, ``later``
  is learned together with the next sitting there. ``remember`` is one line by the command.
  Below it ``who: text`` in order, ``account/what they are called: text``, ``BOT`` is the bot
- ``< subject | predicate | object | statement | evidence`` and ``< E1 | name | type | aliases``:
  what the model answers, with the labels of the prompt (``U1`` is who speaks first, ``E1`` what
  the answer itself introduces, numbers of messages). Further values ``key=value`` are of the
  fact, alone on the line of the answer (``< restated=~text``). Labels and numbers of what was
  remembered before are not written out: ``@name`` and ``~text`` find them in the prompt, and
  fail if they were not shown. ``< nothing`` is that there is nothing worth remembering,
  ``< down`` a model that fails; ``< then`` begins the answer to a second question. ``<" text`` is
  an answer in plain text, ``<< {…}`` one in JSON that is taken as it is
- ``+ text``, ``- text``: what the model is and is not shown
- ``! leave 2026-03-05 12:00 | who | group``, ``! pause who``, ``! pause group 100``, ``! resume``
- ``= subject | predicate | object | says``: a fact that stands afterwards (**all** are written),
  with further values of :class:`Expected`
- ``? who: text | + gets; gets | - lacks | ~ outdated | group=100``: an :class:`Ask`
- ``never:``, ``nobody:``, ``names who:``, ``nodes name:``, ``setting name:``, ``waiting:``,
  ``live: no``: what else :class:`Scene` has
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cases import repeated
from tests.scripted import answer, said

from .stage import NOTHING, Ask, Expected, Label, Leave, Pause, Resume, Scene, Shown, Sitting

NUMBERS = ("importance", "past", "uses", "worth", "corrects")
"""Values that are no text."""


REPEATED = re.compile("«(\\d+)×(.+?)»")


def read(text: str) -> Iterator[Scene]:
    for part in text.split("\n# ")[1:]:
        head, *lines = filter(str.strip, part.splitlines())
        name, _, title = head.partition(" ")
        scene = Scene(name, title, ())
        for line in lines:
            line = REPEATED.sub(lambda found: int(found[1]) * found[2], line).replace("\\n", "\n")
            for each in repeated(line):
                scene = _with(scene, each)
        yield scene


def _with(scene: Scene, line: str) -> Scene:
    """A scene and one more line of it."""
    mark, _, rest = line.partition(" ")
    values = rest.split(" | ")
    match mark:
        case "==" | "!":
            step = _sitting(rest) if mark == "==" else _event(rest)
            return replace(scene, steps=(*scene.steps, step))
        case "<":
            return _answered(scene, values)
        case '<"' | "<<":
            answer = rest if mark == '<"' else json.loads(rest)
            return _last(scene, answers=(*scene.steps[-1].answers, answer))
        case "+" | "-":
            return _more(scene, "shown" if mark == "+" else "hidden", rest)
        case "=":
            return replace(scene, facts=(*scene.facts, _expected(values)))
        case "?":
            return replace(scene, asks=(*scene.asks, _ask(values)))
        case "never:" | "nobody:":
            return replace(scene, **{mark[:-1]: _list(rest)})
        case "names" | "nodes" | "setting":
            key, _, value = rest.partition(": ")
            if mark == "names":
                return replace(scene, names={**scene.names, key: _list(value)})
            name = "nodes" if mark == "nodes" else "settings"
            return replace(scene, **{name: {**getattr(scene, name), key: json.loads(value)}})
        case "waiting:":
            return replace(scene, waiting=int(rest))
        case "live:":
            return replace(scene, live=False)
    return _more(scene, "lines", line)


def _last(scene: Scene, **changes: Any) -> Scene:
    """A scene with its last step changed."""
    return replace(scene, steps=(*scene.steps[:-1], replace(scene.steps[-1], **changes)))


def _more(scene: Scene, key: str, value: str) -> Scene:
    return _last(scene, **{key: (*getattr(scene.steps[-1], key), value)})


def _sitting(text: str) -> Sitting:
    day, hour, *words = text.split(" ")
    more = iter(words)
    told: dict[str, Any] = {}
    for word in more:
        if word in ("later", "remember"):
            told |= {"learn": False} if word == "later" else {"asked": True}
        else:
            told[{"group": "group", "as": "persona"}[word]] = next(more)
    return Sitting(f"{day} {hour}", (), **told)


def _event(text: str) -> Leave | Pause | Resume:
    act, _, about = text.partition(" ")
    if act == "leave":
        return Leave(*about.split(" | "))
    kind = {"pause": Pause, "resume": Resume}[act]
    return kind(group=about[6:]) if about.startswith("group ") else kind(about)


def _answered(scene: Scene, values: list[str]) -> Scene:
    """A scene with one line more of what the model answers."""
    answers = scene.steps[-1].answers
    match values:
        case ["then"]:
            return _last(scene, answers=(*answers, answer(summary="")))
        case ["nothing"]:
            return _last(scene, answers=(*answers[:-1], NOTHING))
        case ["down"]:
            return _last(scene, answers=(*answers, None))
    given = answers[-1] if answers else answer(summary="")
    match values:
        case [mark]:
            given = given | _named([mark])
        case [subject, predicate, object, statement, evidence, *more]:
            ends = _known(subject), predicate, _known(object)
            fact = said(*ends, statement, importance=0.6, evidence=evidence) | _named(more)
            given = {**given, "facts": [*given["facts"], fact]}
        case [id, name, *more]:
            type, aliases = (*more, *("topic", "")[len(more) :])
            thing = {"id": id, "name": name, "type": type, "aliases": aliases}
            given = {**given, "entities": [*given["entities"], thing]}
    return _last(scene, answers=(*answers[:-1], given))


def _expected(values: list[str]) -> Expected:
    subject, predicate, object, says, *more = values
    named = {
        key: _list(v) if key in ("alike", "replaces") else v for key, v in _named(more).items()
    }
    return Expected(subject, predicate, object, _list(says), **named)


def _ask(values: list[str]) -> Ask:
    who, _, text = values[0].partition(": ")
    marks = {"+": "gets", "-": "lacks", "~": "outdated"}
    said = {marks[v[0]]: _list(v[2:]) for v in values[1:] if v[0] in marks}
    return Ask(who, text, **said, **_named([v for v in values[1:] if v[0] not in marks]))


def _named(values: list[str]) -> dict[str, Any]:
    """Values that are written ``key=value``."""
    pairs = [value.partition("=")[::2] for value in values]
    return {key: json.loads(text) if key in NUMBERS else _known(text) for key, text in pairs}


def _known(text: str) -> Any:
    """A label or number that is looked up in the prompt, or what is written."""
    kind = {"@": Label, "~": Shown}.get(text[:1])
    return kind(text[1:]) if kind else text


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))


SCENES: tuple[Scene, ...] = tuple(
    scene
    for path in sorted((Path(__file__).parent / "written").glob("*.txt"))
    for scene in read("\n" + path.read_text(encoding="utf-8"))
)
