"""Who and what is one: merged entities and linked accounts (pure).

Merging unites nodes, never rows: rows keep the ids they were written with, and whoever
reads them asks here which nodes are one. So it widens nobody's view, and a split takes
apart again exactly what there was; what was learned meanwhile stays with the survivor.

A link says that two accounts belong to one person. It counts for that person only (see
``Asker.accounts``); accounts never become one node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .model import Change, Link, Merge, Row, is_entity


@dataclass(frozen=True, slots=True)
class _Joined:
    """What follows from the rows.

    Attributes:
        classes: Classes of more than one, by member.
        survivors: The node under which a merged one goes.
    """

    classes: dict[str, frozenset[str]] = field(default_factory=dict)
    survivors: dict[str, str] = field(default_factory=dict)


class Identities:
    """Which nodes are one, and which accounts; follows rows and changes.

    Altered by one thread; what is read meanwhile by others is of before or after.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._kept: dict[tuple[str, str], Merge | Link] = {}
        self._found: _Joined | None = None
        for row in rows:
            self.put(row)

    # ----------------------------------------------------------------- writing

    def put(self, row: Row) -> None:
        """Enter a row or its newer state; other kinds are ignored."""
        if isinstance(row, Merge | Link):
            self._kept[row.kind, row.id] = row
            self._found = None

    def drop(self, kind: str, id: str) -> None:
        """Take a row out; harmless if it is not there."""
        self._kept.pop((kind, id), None)
        self._found = None

    def follow(self, change: Change) -> None:
        """Follow a change."""
        for op in change.ops:
            if op.kind in (Merge.kind, Link.kind):
                if op.row is None:
                    self.drop(op.kind, op.id)
                else:
                    self.put(op.row)

    # ----------------------------------------------------------------- reading

    @property
    def merges(self) -> list[Merge]:
        """All merges, oldest first."""
        merges = (row for row in [*self._kept.values()] if isinstance(row, Merge))
        return sorted(merges, key=lambda merge: (merge.at, merge.id))

    @property
    def links(self) -> list[Link]:
        """All links, in order of id."""
        links = (row for row in [*self._kept.values()] if isinstance(row, Link))
        return sorted(links, key=lambda link: link.id)

    def canonical(self, node: str) -> str:
        """The node under which a node goes: of merged entities the survivor.

        Undoing a split may close a circle of merges; then it is the one whose id is first.
        """
        found = self._found or self._join()
        return found.survivors.get(node, node)

    def nodes(self, node: str) -> frozenset[str]:
        """All that are one with a node, the node included: of an account itself only."""
        return self.accounts(node) if is_entity(node) else frozenset((node,))

    def accounts(self, user: str) -> frozenset[str]:
        """All accounts of the person whose account ``user`` is, ``user`` included."""
        found = self._found or self._join()
        return found.classes.get(user) or frozenset((user,))

    def is_one(self, node: str, other: str) -> bool:
        """Whether two nodes are one, or two accounts one person's."""
        return node == other or other in self.accounts(node)

    def absorbed(self, node: str) -> Merge | None:
        """What says that a node goes under another one."""
        return next((merge for merge in self.merges if merge.node == node), None)

    def _join(self) -> _Joined:
        """Find anew what follows, after an alteration."""
        pairs = [(merge.node, merge.into) for merge in self.merges]
        classes = _components((*pairs, *((link.a, link.b) for link in self.links)))
        into = dict(pairs)
        survivors = {node: _end(node, into) for node in classes if is_entity(node)}
        found = self._found = _Joined(classes, survivors)
        return found


def _components(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    sets: dict[str, set[str]] = {}
    for a, b in pairs:
        one, other = sets.setdefault(a, {a}), sets.setdefault(b, {b})
        if one is other:
            continue
        one |= other
        for member in other:
            sets[member] = one
    frozen = {id(members): frozenset(members) for members in sets.values()}
    return {node: frozen[id(members)] for node, members in sets.items()}


def _end(node: str, into: dict[str, str]) -> str:
    """Where the way from a node leads; each leads to one other node at most."""
    way: dict[str, None] = {}
    while node not in way:
        way[node] = None
        if node not in into:
            return node
        node = into[node]
    # Once round the circle that the way has run into.
    around = list(way)
    return min(around[around.index(node) :])
