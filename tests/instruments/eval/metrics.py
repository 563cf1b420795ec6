"""What is measured.

ER@k: mean share of evidence slots that the first k places cover; an item takes as many
places as it shows messages word for word, at least one. ALL@10: all slots covered. MRR: of
the first item that covers a slot. ER@600t: slots covered by what fits into 600 tokens. In use:
slots covered by what the default reminder shows, whose tokens and lines are counted; of plain
retrieval, by what fits into as many tokens, or takes as many lines.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .corpus import Query

PLACES = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Shown:
    """An item: the messages it stands for, and how many places it takes."""

    covers: frozenset[str]
    places: int = 1


@dataclass(frozen=True, slots=True)
class Used:
    """What a reply gets: the items, and how many lines and tokens the reminder has."""

    shown: Sequence[Shown] = ()
    lines: int = 0
    tokens: int = 0


@dataclass(slots=True)
class Scores:
    """Measurements by category; ``all`` is every question."""

    _rows: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, query: Query, ranked: Sequence[Shown], fitting: Iterable[Shown], used: Used
    ) -> None:
        """Enter one answer: everything in order, what fits the token budget, what is used."""
        row = {f"er@{k}": covered(query, within(ranked, k)) for k in PLACES}
        row["all@10"] = float(row["er@10"] == 1.0)
        hits = (n for n, item in enumerate(ranked, 1) if covered(query, [item]))
        row["mrr"] = 1 / next(hits, float("inf"))
        row["er@600t"] = covered(query, fitting)
        row["in use"] = covered(query, used.shown)
        row["lines"], row["tokens"] = float(used.lines), float(used.tokens)
        row["as many lines"] = covered(query, ranked[: used.lines])
        for category in ("all", query.category):
            self._rows[category].append(row)

    def table(self) -> dict[str, dict[str, float]]:
        """Means by category, ``all`` first, with the number of questions as ``n``."""
        return {
            category: {
                **{key: round(sum(row[key] for row in rows) / len(rows), 4) for key in rows[0]},
                "n": len(rows),
            }
            for category, rows in sorted(
                self._rows.items(), key=lambda entry: (entry[0] != "all", entry[0])
            )
        }


def within(ranked: Sequence[Shown], places: int) -> list[Shown]:
    """The first items that together take at most ``places`` places."""
    found: list[Shown] = []
    for item in ranked:
        places -= max(1, item.places)
        if places < 0:
            break
        found.append(item)
    return found


def covered(query: Query, items: Iterable[Shown]) -> float:
    """Share of the evidence slots of a question that items cover."""
    seen = frozenset().union(*(item.covers for item in items))
    return sum(bool(slot & seen) for slot in query.slots) / len(query.slots)


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest-rank percentile; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
