"""Identity edits: merging entities, linking accounts, and taking that back.

Each is one :class:`Change` that can be undone. No row about anybody is rewritten, with one
exception: a split also takes apart what replaced what across it, for what is true of one
thing never made something untrue of another.
"""

from __future__ import annotations

from dataclasses import replace

from ..context import Part
from ..errors import BondError
from ..identity import Identities
from ..model import Change, Entity, Fact, Link, Merge, User, is_entity, stable_id
from ..store import Draft, Rows
from .facts import Called


class IdentityEdits(Part):
    """Merges and splits, links and unlinks; who may do so is for the caller to see to."""

    # ---------------------------------------------------------------- entities

    async def merge(self, node: str, into: str, actor: str) -> Change:
        """Have an entity go under another one, which survives.

        Nothing becomes visible to anybody who could not see it: rows stay where they are.

        Args:
            node: With all that has been merged into it.
            into: The entity under which it goes, or one merged with that.
            actor: Written into the change.

        Raises:
            BondError: One is a user, or they are one already.
            NotFoundError: There is no such entity.
        """

        def resolve(rows: Rows) -> Draft:
            for each in (node, into):
                if not is_entity(each):
                    raise BondError("person", f"{each} is a user: users are linked, not merged")
                rows.require(Entity, each)
            identities = rows.identities()
            if identities.is_one(node, into):
                raise BondError("one", f"{node} and {into} are one already")
            top, survivor = identities.canonical(node), identities.canonical(into)
            merge = Merge(stable_id("j", top), top, survivor, self._now())
            return Draft(actor, "merge", put=[merge])

        return await self._enact(resolve, node)

    async def split(self, node: str, actor: str) -> Change:
        """Let a merged entity be one of its own again, with what was merged into it.

        What was learned meanwhile stays with the survivor.

        Raises:
            BondError: It goes under no other entity.
        """

        def resolve(rows: Rows) -> Draft:
            identities = rows.identities()
            merge = identities.absorbed(node)
            if merge is None:
                raise BondError("apart", f"{node} was not merged into another entity")
            members = identities.nodes(node)
            identities.drop(Merge.kind, merge.id)
            put = _apart(rows, identities, members)
            return Draft(actor, "split", put=[*put], drop=[(Merge.kind, merge.id)])

        return await self._enact(resolve, node)

    async def merges(self) -> list[tuple[Called, Called]]:
        """What goes under what, the oldest merge first, as the owner sees them."""

        def work(rows: Rows) -> list[tuple[Called, Called]]:
            def called(node: str) -> Called:
                return Called(node, rows.called(node), len(rows.about(node)))

            merges = rows.identities().merges
            return [(called(merge.node), called(merge.into)) for merge in merges]

        return await self._journal.read(work)

    # ---------------------------------------------------------------- accounts

    async def link(self, account: str, other: str, actor: str) -> Change:
        """Take two accounts for one person's: what either may see and say, both may.

        Raises:
            BondError: One is an entity, or they are linked already.
            NotFoundError: There is no such user.
        """

        def resolve(rows: Rows) -> Draft:
            for each in (account, other):
                if is_entity(each):
                    raise BondError("thing", f"{each} is an entity: entities are merged")
                rows.require(User, each)
            if rows.identities().is_one(account, other):
                code = "linked_already" if account != other else "one"
                raise BondError(code, f"{account} and {other} are linked already")
            return Draft(actor, "link", put=[Link.of(account, other)])

        return await self._enact(resolve, account)

    async def unlink(self, account: str, actor: str) -> Change:
        """Let an account be a person of its own; the others stay linked to each other.

        Raises:
            BondError: It is linked to no other.
        """

        def resolve(rows: Rows) -> Draft:
            identities = rows.identities()
            members = identities.accounts(account)
            gone = [link for link in identities.links if account in (link.a, link.b)]
            if not gone:
                raise BondError("alone", f"{account} is linked to no other account")
            for link in gone:
                identities.drop(Link.kind, link.id)
            put: list[Fact | Link] = []
            first, *others = sorted(members - {account})
            for other in others:  # they may have been linked by way of the account alone
                if not identities.is_one(first, other):
                    put.append(link := Link.of(first, other))
                    identities.put(link)
            put += _apart(rows, identities, members)
            return Draft(actor, "unlink", put=[*put], drop=[(Link.kind, link.id) for link in gone])

        return await self._enact(resolve, account)

    async def links(self) -> list[dict[str, str]]:
        """The accounts of each person who has several, with what each was called last."""

        def work(rows: Rows) -> list[dict[str, str]]:
            identities = rows.identities()
            people = {identities.accounts(link.a) for link in identities.links}
            return [
                {account: rows.called(account) for account in sorted(accounts)}
                for accounts in sorted(people, key=min)
            ]

        return await self._journal.read(work)


def _apart(rows: Rows, identities: Identities, members: frozenset[str]) -> list[Fact]:
    """The facts about some nodes that replaced one about a node they are not one with."""
    found: list[Fact] = []
    for member in sorted(members):
        for fact in rows.history(member):
            lost = {
                id
                for id in (*fact.supersedes, *fact.awaits)
                if (old := rows.get(Fact, id))
                and old.subject in members
                and not identities.is_one(old.subject, member)
            }
            if lost:
                replaced = tuple(id for id in fact.supersedes if id not in lost)
                awaited = tuple(id for id in fact.awaits if id not in lost)
                found.append(replace(fact, supersedes=replaced, awaits=awaited))
    return found
