"""How near a memory comes to what a scene expects, for models whose words are their own."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graph_memory.inference import LanguageModel
from graph_memory.recall import Recall

from .match import Reading, assign, forbidden, leaked, says, unmet
from .play import Theatre
from .stage import Ask, Scene


@dataclass
class Score:
    """One scene, scored.

    Attributes:
        expected, learned: Facts that the scene expects; that there are.
        found: Expected facts that there are: subject, predicate, and object or words fit.
        dated: Of these, those whose dates and history are right, too.
        missing, surplus: Expected facts that there are not; facts that nobody expects.
        forbidden: What is known and must not be.
        reminded, reminders: Things that askers were reminded of, and should have been.
        leaks: What askers were reminded of and must not be.
        unlearned: Batches that the model did not answer usefully.
        differs: In what a scripted scene is not as written; empty for real models.
        error: What stopped the scene.
    """

    name: str
    title: str
    expected: int = 0
    learned: int = 0
    found: int = 0
    dated: int = 0
    missing: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    reminded: int = 0
    reminders: int = 0
    leaks: list[str] = field(default_factory=list)
    unlearned: int = 0
    differs: list[str] = field(default_factory=list)
    error: str = ""


async def play(scene: Scene, directory: Path, model: LanguageModel | None) -> Score:
    """Play a scene and score what is left of it; whatever goes wrong is in the score."""
    score = Score(scene.name, scene.title)
    try:
        async with Theatre.open(scene, directory, model) as theatre:
            await theatre.play()
            reading = Reading(await theatre.memory())
            compare(score, scene, reading)
            if model is None:
                score.differs = unmet(scene, reading)
            for ask in scene.asks:
                answered(score, ask, await theatre.ask(ask))
    except Exception as error:  # a scene that cannot be played says so, the others go on
        score.error = f"{type(error).__name__}: {error}"
    return score


def compare(score: Score, scene: Scene, reading: Reading) -> None:
    facts = reading.memory.facts
    resembles = reading.resembles
    pairs = assign(
        scene.facts,
        facts,
        lambda one, fact: not reading.wrong_in_time(one, fact) and resembles(one, fact),
        resembles,
    )
    score.expected, score.learned, score.found = len(scene.facts), len(facts), len(pairs)
    score.dated = sum(
        not reading.wrong_in_time(scene.facts[number], fact) for number, fact in pairs.items()
    )
    score.missing = [
        " ".join((e.subject, e.predicate, e.object, *e.says))
        for number, e in enumerate(scene.facts)
        if number not in pairs
    ]
    known = {fact.id for fact in pairs.values()}
    score.surplus = [f"{f.predicate}: {f.statement}" for f in facts if f.id not in known]
    score.forbidden = forbidden(scene, reading)
    score.unlearned = max(0, reading.memory.waiting - scene.waiting)


def answered(score: Score, ask: Ask, recall: Recall) -> None:
    """Count what somebody was reminded of."""
    score.reminders += len(ask.gets)
    score.reminded += sum(says(recall.block, (word,)) for word in ask.gets)
    score.leaks += [f"{ask.who}: {word}" for word in leaked(ask, recall)]


def totals(scores: list[Score]) -> dict[str, Any]:
    """The figures of all scenes together; ``None`` where there is nothing to count."""
    expected, learned, found = (
        sum(getattr(s, name) for s in scores) for name in ("expected", "learned", "found")
    )
    precision, recall = _share(found, learned), _share(found, expected)
    return {
        "scenes": len(scores), "expected": expected, "learned": learned, "found": found,
        "precision": precision, "recall": recall, "f1": _share(2 * found, learned + expected),
        "dated": _share(sum(s.dated for s in scores), found),
        "forbidden": sum(len(s.forbidden) for s in scores),
        "reminded": _share(sum(s.reminded for s in scores), sum(s.reminders for s in scores)),
        "leaks": sum(len(s.leaks) for s in scores), "unlearned": sum(s.unlearned for s in scores),
        "errors": sum(bool(s.error) for s in scores),
    }  # fmt: skip


def as_json(scores: list[Score], about: dict[str, Any]) -> dict[str, Any]:
    return {**about, "totals": totals(scores), "scenes": [asdict(score) for score in scores]}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
