"""Which known names occur in a text.

The names there are grow and change with every chat, so they are kept in a plain
dictionary and the text's substrings are looked up in it, longest first. An Aho–Corasick
automaton would have to be rebuilt after each new name, and finds the names of
everybody: here what counts is the longest *visible* name at each place, and which
names are visible differs from asker to asker. A message of 60 characters costs some
hundred look-ups, tens of microseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..model import Name, is_entity
from ..text import alike, clean_name, normalise

_LONGEST_TEXT = 600
"""Characters of a text that are searched for names."""
_SHORTEST_NAME = 2
"""Names of one character match everywhere; they are not looked for."""


class Names:
    """The names of nodes."""

    def __init__(self) -> None:
        self._by_id: dict[str, Name] = {}
        self._by_norm: dict[str, dict[str, Name]] = defaultdict(dict)
        self._by_node: dict[str, dict[str, Name]] = defaultdict(dict)
        # Those of users, by what others may take them for.
        self._alike: dict[str, dict[str, Name]] = defaultdict(dict)
        # How long the names are that begin with the same two characters.
        self._lengths: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))

    def put(self, name: Name) -> None:
        """Enter a name or its newer state."""
        self.drop(name.id)
        self._by_id[name.id] = name
        self._by_node[name.node][name.id] = name
        if not is_entity(name.node):
            self._alike[_look(name.text)][name.id] = name
        if len(name.norm) >= _SHORTEST_NAME:
            self._by_norm[name.norm][name.id] = name
            self._lengths[name.norm[:2]][len(name.norm)] += 1

    def drop(self, id: str) -> None:
        """Take a name out; harmless if it is not there."""
        name = self._by_id.pop(id, None)
        if name is None:
            return
        _discard(self._by_node, name.node, id)
        if not is_entity(name.node):
            _discard(self._alike, _look(name.text), id)
        if len(name.norm) >= _SHORTEST_NAME:
            _discard(self._by_norm, name.norm, id)
            lengths = self._lengths[name.norm[:2]]
            lengths[len(name.norm)] -= 1
            if not lengths[len(name.norm)]:
                _discard(self._lengths, name.norm[:2], len(name.norm))

    def of(self, node: str) -> list[Name]:
        """All names of a node."""
        return list(self._by_node.get(node, {}).values())

    def bearers(self, name: str, visible: Callable[[Name], bool]) -> set[str]:
        """The users who are called so, or so that one is taken for the other."""
        return {each.node for each in self._alike.get(_look(name), {}).values() if visible(each)}

    def mentioned(self, text: str, visible: Callable[[Name], bool]) -> dict[str, str]:
        """Nodes named in a text, with the name that was found.

        Args:
            visible: Whether a name may be known to the asker; others do not exist,
                which also means that they hide no shorter name.
        """
        wanted = normalise(text)[:_LONGEST_TEXT]
        found: dict[str, str] = {}
        at = 0
        while at < len(wanted) - 1:
            at += self._at(wanted, at, visible, found) or 1
        return found

    def _at(
        self, text: str, at: int, visible: Callable[[Name], bool], found: dict[str, str]
    ) -> int:
        """Enter the nodes of the longest name at a position; returns its length."""
        for length in sorted(self._lengths.get(text[at : at + 2], ()), reverse=True):
            norm = text[at : at + length]
            names = self._by_norm.get(norm) if _is_word(text, at, at + length) else None
            nodes = {name.node for name in names.values() if visible(name)} if names else set()
            if nodes:
                found.update(dict.fromkeys(sorted(nodes), norm))
                return length
        return 0


def _look(name: str) -> str:
    return alike(clean_name(name))


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a match is no fragment of a longer word; Chinese has no such borders."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (
        _joins(text[end - 1 : end]) and _joins(after)
    )


def _joins(character: str) -> bool:
    """Whether a character is part of a word that is written with borders."""
    return character.isalnum() and character < "\u2e80"


def _discard(table: dict[str, dict[Any, Any]], key: str, inner: Any) -> None:
    entries = table[key]
    del entries[inner]
    if not entries:
        del table[key]
