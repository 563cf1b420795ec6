"""Commands that merge entities and link accounts.

For admins in a private chat: the answers show names and facts of anybody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ..errors import BondError, NotFoundError
from ..identity import Identities
from ..library import Called
from ..model import Entity, Name, Turn, is_entity
from ..store import Rows
from ..text import normalise, one_line, simplified
from .usage import CONFIRM, Answers, account

LISTED = 20
"""Lines in a list."""
CHATS = 4
"""Chats by which an account is told from another."""
MAX_NAME, MAX_FACT = 40, 60
SHORT_ID = 10
"""Characters of an entity's id that are shown: enough to tell those of one name apart."""
LEAST_ID = 6
"""Characters, the ``e:`` included, from which the beginning of an id is taken for it."""

_WORD = re.compile(
    r'"([^"]+)"|“([^”]+)”|「([^」]+)」|<([^<>]+)>(?!\S)|\[([^\[\]]+)\](?!\S)|【([^】]+)】(?!\S)|(\S+)'
)
"""A name or an id, in quotes, in the brackets of the usage or of a list, or bare."""
_VERBS = {"合并": "merge", "拆分": "split", "关联": "link", "取消关联": "unlink"}

Choose = Callable[[Identities, Iterable[str]], Iterable[str]]
"""Which entities are meant by those of a name."""


class _Unclear(Exception):  # noqa: N818 - an answer, not an error
    """What to say to a word that means nothing, or several things."""


class PeopleCommands(Answers):
    """``/memory people``, by which the owner says who and what is one."""

    async def answer(self, turn: Turn, text: str = "") -> str:
        """Merge, split, link or unlink; without ``text`` list what is one."""
        if not turn.is_owner:
            return self._say("people_private")
        words = ["".join(found) for found in _WORD.findall(text)]
        verb = [_VERBS.get(simplified(word), word.casefold()) for word in words[:1]]
        try:
            match [*verb, *words[1:]]:
                case []:
                    return await self._list()
                case ["merge", first, second]:
                    one, into = [await self._one(word, _survivors) for word in (first, second)]
                    await self.memory.identity_edits.merge(one.node, into.node, turn.user)
                    merged = self._say("people_merged", **_pair(one, into))
                    return "\n".join([merged, *map(self._candidate, (one, into))])
                case ["split", word]:
                    return await self._split(turn, word)
                case ["link", first, second, *sure] if CONFIRM.issuperset(map(str.casefold, sure)):
                    return await self._link(turn, first, second, is_sure=bool(sure))
                case ["unlink", word]:
                    user = account(turn, word)
                    await self.memory.identity_edits.unlink(user, turn.user)
                    return self._say("people_unlinked", account=user)
                case _:
                    return self._say("people_how")
        except _Unclear as unclear:
            return str(unclear)
        except BondError as error:
            return self._say(f"people_{error.code}")

    async def _list(self) -> str:
        merges = await self.memory.identity_edits.merges()
        links = await self.memory.identity_edits.links()
        lines = [self._say("people_merge_line", **_pair(*each)) for each in merges[-LISTED:]]
        lines += [
            self._say("people_link_line", accounts=_joined(accounts)) for accounts in links[:LISTED]
        ]
        title = self._say("people_title" if lines else "people_none")
        return "\n".join([title, *lines, self._say("people_how")])

    async def _split(self, turn: Turn, word: str) -> str:
        node = (await self._one(word, _absorbed)).node
        change = await self.memory.identity_edits.split(node, turn.user)
        into = next(op.before["into"] for op in change.ops if op.before and "into" in op.before)
        apart, survivor = await self.memory.library.cards([node, into])
        return self._say("people_split", **_pair(apart, survivor))

    async def _one(self, word: str, choose: Choose) -> Called:
        """The entity that is meant by a name or by the beginning of an id."""
        is_id = word.startswith("e:") and len(word) >= LEAST_ID

        def look(rows: Rows) -> tuple[list[str], bool]:
            identities = rows.identities()
            names = [] if is_id else rows.find(Name, b=normalise(word))
            nodes = rows.ids(Entity, word, LISTED) if is_id else [name.node for name in names]
            things = {node for node in nodes if is_entity(node)}
            return sorted(set(choose(identities, things)))[:LISTED], bool(things or not nodes)

        meant, has_things = await self.memory.journal.read(look)
        found = await self.memory.library.cards(meant)
        if len(found) == 1:
            return found[0]
        word = one_line(word, MAX_NAME)
        if not found and not has_things:
            raise _Unclear(self._say("people_person"))
        if not found:
            key = "people_apart" if choose is _absorbed else "people_unknown"
            raise _Unclear(self._say(key, name=word))
        lines = map(self._candidate, found)
        raise _Unclear("\n".join([self._say("people_which", name=word), *lines]))

    def _candidate(self, each: Called) -> str:
        where = each.places[0].session.title if each.places else "?"
        return self._say(
            "people_candidate",
            id=each.node[:SHORT_ID],
            name=one_line(each.name, MAX_NAME),
            circle=one_line(where, MAX_NAME),
            facts=each.facts,
            newest=one_line(each.newest, MAX_FACT) or "–",
        )

    async def _link(self, turn: Turn, first: str, second: str, *, is_sure: bool) -> str:
        one, other = account(turn, first), account(turn, second)
        library = self.memory.library
        cards = [self._card(each) for each in await library.cards([one, other])]
        rivals = [] if is_sure else await library.rivals(one, other)
        if rivals:
            chats = self._say("list_comma").join(one_line(each, MAX_NAME) for each in rivals)
            return "\n".join([self._say("people_rivals", chats=chats), *cards])
        try:
            await self.memory.identity_edits.link(one, other, turn.user)
        except NotFoundError:
            return await self._bearers({first: None, second: None})
        everybody = await self.memory.identity_edits.links()
        accounts = next((each for each in everybody if one in each), {})
        return "\n".join([self._say("people_linked", accounts=_joined(accounts)), *cards])

    async def _bearers(self, words: Iterable[str]) -> str:
        """What to say to unknown accounts: those that go by them, which are but names."""
        found = await self.memory.journal.read(
            lambda rows: [n.node for word in words for n in rows.find(Name, b=normalise(word))]
        )
        users = [node for node in dict.fromkeys(found) if not is_entity(node)][:LISTED]
        if not users:
            return self._say("people_stranger")
        names = self._say("list_comma").join(one_line(word, MAX_NAME) for word in words)
        cards = map(self._card, await self.memory.library.cards(users))
        return "\n".join([self._say("people_bearers", names=names), *cards])

    def _card(self, each: Called) -> str:
        """An account as the owner tells it from another one of its name."""
        titles = dict.fromkeys(one_line(place.session.title, MAX_NAME) for place in each.places)
        chats = self._say("list_comma").join([*titles][:CHATS])
        last = self._date(each.places[0].last_at) if each.places else "–"
        return self._say(
            "people_card", account=each.node, chats=chats or "–", last=last, facts=each.facts
        )


def _survivors(identities: Identities, nodes: Iterable[str]) -> Iterable[str]:
    return {identities.canonical(node) for node in nodes}


def _absorbed(identities: Identities, nodes: Iterable[str]) -> Iterable[str]:
    """Those of some entities that are merged, or else all merged into them."""
    named = {node for node in nodes if identities.absorbed(node)}
    members = {one for node in nodes for one in identities.nodes(node)}
    return named or {one for one in members if identities.absorbed(one)}


def _pair(node: Called, into: Called) -> dict[str, object]:
    return {
        "node": _labelled(node.name, node.node),
        "facts": node.facts,
        "into": _labelled(into.name, into.node),
        "others": into.facts,
    }


def _labelled(name: str, node: str) -> str:
    """A name with the id by which it can be meant."""
    short = f"[{node[:SHORT_ID]}]"
    return short if name in ("", node) else f"{one_line(name, MAX_NAME)} {short}"


def _joined(accounts: Mapping[str, str]) -> str:
    """The accounts of a person, with their names."""
    return " = ".join(
        f"{one_line(name, MAX_NAME)} [{user}]" if name else f"[{user}]"
        for user, name in accounts.items()
    )
