"""What took the place of memories that are no longer true, as far as the asker may see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Fact
from .index import Index
from .sight import Citation, Sight
from .signals import Scores


@dataclass(frozen=True, slots=True)
class Followed:
    """What followed some documents.

    Attributes:
        replaced: What replaces each of them, if anything does.
        heirs: Who, in this order, is to have the evidence of whom: ``(old, new)``.
        cited: Citations of all of them, old and new.
    """

    replaced: dict[int, Fact] = field(default_factory=dict)
    heirs: list[tuple[int, int]] = field(default_factory=list)
    cited: list[Citation] = field(default_factory=list)


def follow(index: Index, sight: Sight, order: list[int], relevance: Scores) -> Followed:
    """Let what replaces some documents follow them into ``order``: it answers what they would
    have answered, so it is as relevant as they are whatever its words."""
    found = Followed()
    known, left = set(order), list(order)
    while left:
        cited = sight.citations(left)
        found.cited.extend(cited)
        outdated = _outdated(index, sight, left, cited)
        found.replaced.update(outdated)
        left = []
        # Oldest first, so that relevance is handed on along a chain of replacements.
        for old, newer in sorted(outdated.items(), key=lambda o: (o[1].recorded_at, o[1].id)):
            number = index.documents.number(newer.id)
            new = int(sight.positions[number]) if number is not None else -1
            if new < 0:
                continue
            relevance[new] = max(relevance[new], relevance[old])
            found.heirs.append((old, new))
            if new not in known:
                known.add(new)
                order.append(new)
                left.append(new)
    return found


def _outdated(
    index: Index, sight: Sight, positions: list[int], cited: list[Citation]
) -> dict[int, Fact]:
    """What replaces each of some documents, if anything does.

    A message is outdated if all visible facts that rest on it are.
    """
    found: dict[int, Fact] = {}
    standing: set[int] = set()
    pairs = [(position, position) for position in positions] + cited
    numbers = sight.numbers[[fact for fact, _ in pairs]].tolist()
    keys = [index.documents[number].key for number in numbers]
    if not index.replaces_any(keys):
        return found
    for (fact, document), key in zip(pairs, keys, strict=True):
        newer = index.replaced_by(key, sight.views)
        if newer is None:
            if fact != document:
                standing.add(document)
        elif document not in found or newer.id > found[document].id:
            found[document] = newer
    return {position: newer for position, newer in found.items() if position not in standing}
