"""Numbers of recall, judged on sources on which they were not chosen.

Every number of ``recall/weights.py`` gets other values, one at a time, in the running product.
For each source those values are chosen that are better on all *other* sources together, beyond
chance; what they give on the source that was left out stands beside what choosing on all
sources gives there. If the numbers are as good on what nobody chose them on, the two are equal.

A question is worth the evidence among the first ten and in a default reminder, half each; in a
recorded world 1 if its answer is in the block, or if nothing is where nothing was to be said.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from graph_memory.recall import weights

from .recorded import Recorded
from .trial import Trial

Rewards = NDArray[np.float64]
Values = Mapping[str, float]
Ask = Callable[[], Awaitable[list[float]]]
Open = Callable[[], AbstractAsyncContextManager[Ask]]

FACTORS = (0.5, 0.75, 1.25, 2.0)
"""Values that are tried, as shares of what a number is; counts are rounded."""
DRAWS, SURE = 2_000, 0.975
"""Resamples of the questions, and the share of them in which a value has to be better."""


@contextmanager
def set_to(values: Values) -> Iterator[None]:
    """Give numbers other values wherever they are used."""
    rooms = [each for name, each in sys.modules.items() if name.startswith(weights.__package__)]
    with ExitStack() as stack:
        for name, value in values.items():
            own = getattr(weights, name)
            for module in rooms:
                if getattr(module, name, None) is own and module is not weights:
                    stack.enter_context(patch.object(module, name, value))
        yield


def tried() -> Iterator[Values]:
    """Other values of each number, alone."""
    for name, value in vars(weights).items():
        if not name.isupper() or not isinstance(value, int | float):
            continue
        others = [
            round(value * each) if isinstance(value, int) else value * each for each in FACTORS
        ]
        yield from ({name: other} for other in dict.fromkeys(others) if other != value)


@asynccontextmanager
async def conversations(trial: Trial) -> AsyncIterator[Ask]:
    """A file of conversations as a source."""
    async with trial.recaller() as recaller:
        await trial.fill(recaller)
        yield lambda: trial.rewards(recaller)


@asynccontextmanager
async def lived(recorded: Recorded) -> AsyncIterator[Ask]:
    """A recorded world as a source."""
    async with recorded.lived() as service:
        yield lambda: recorded.rewards(service)


@dataclass(slots=True)
class LeaveOut:
    """Rewards of every source under every value.

    Attributes:
        now: By source: rewards as it is.
        changed: By value, then source: what is gained, by question.
    """

    sources: Mapping[str, Open]
    now: dict[str, Rewards] = field(default_factory=dict)
    changed: dict[tuple[str, float], dict[str, Rewards]] = field(default_factory=dict)

    async def run(self) -> str:
        """Try everything; tables in Markdown."""
        for source, opened in self.sources.items():
            async with opened() as ask:
                self.now[source] = np.array(await ask())
                for values in tried():
                    with set_to(values):
                        gained = np.array(await ask()) - self.now[source]
                    self.changed.setdefault(next(iter(values.items())), {})[source] = gained
        rows = [
            "| source | now | chosen on the others | on all | difference | what was chosen |",
            "|---|---|---|---|---|---|",
        ]
        for source, opened in self.sources.items():
            others = [each for each in self.sources if each != source]
            choices = self.chosen(others), self.chosen(self.sources)
            async with opened() as ask:
                found = []
                for values in choices:
                    with set_to(values):
                        found.append(float(np.mean(await ask())))
            rows.append(self._row(source, *found, choices[0]))
        return "\n".join([*self._differences(), "", *rows])

    def chosen(self, sources: Iterable[str]) -> Values:
        """For each number the value that gains most on some sources, if it surely gains."""
        best: dict[str, tuple[float, float]] = {}
        for (name, value), gained in self.changed.items():
            own = [gained[source] for source in sources]
            most = float(np.mean([each.mean() for each in own]))
            if most > best.get(name, (0.0, 0.0))[0] and is_sure(own):
                best[name] = most, value
        return {name: value for name, (_, value) in best.items()}

    def _row(self, source: str, left_out: float, on_it: float, values: Values) -> str:
        named = ", ".join(f"{name} {value:g}" for name, value in values.items()) or "as it is"
        now = self.now[source].mean()
        figures = f"{now:.3f} | {left_out:.3f} | {on_it:.3f} | {on_it - left_out:+.3f}"
        return f"| {source} | {figures} | {named} |"

    def _differences(self) -> Iterator[str]:
        yield f"| thousandths gained | {' | '.join(self.sources)} | all | sure |"
        yield "|" + "---|" * (len(self.sources) + 3)
        for (name, value), gained in self.changed.items():
            own = [gained[source] for source in self.sources]
            means = [each.mean() * 1000 for each in own]
            sure = "better" if is_sure(own) else "worse" if is_sure([-e for e in own]) else ""
            figures = " | ".join(f"{mean:+.0f}" for mean in (*means, float(np.mean(means))))
            yield f"| {name} {getattr(weights, name):g} → {value:g} | {figures} | {sure} |"


def is_sure(gained: list[Rewards]) -> bool:
    """Whether the mean over sources gains in nearly all resamples of their questions."""
    random = np.random.default_rng(7)
    drawn = np.zeros(DRAWS)
    for each in gained:
        count = len(each)
        drawn += each[random.integers(0, count, (DRAWS, count))].mean(1)
    return bool((drawn > 0).mean() >= SURE)
