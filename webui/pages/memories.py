"""Pages of facts: the table, a fact's own page, and what the owner does with them."""

from __future__ import annotations

import hashlib
from typing import get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter
from starlette.responses import Response

from ..core import errors, library, queries
from ..guard import local_path, split
from ..listing import FactListing, FactQuery, Id
from ..rendering import Memory, Visit, or_back

SHOWN = 5
"""Facts that are named before something is done with them."""
LISTED = 12
"""Facts of each kind that are shown for review."""
SOON = 30
"""Days within which what fades is shown."""
DOUBTS = ("weak", "hearsay", "confidential")
"""States of facts that are looked through, the most doubtful first."""
MAX_EVERY = 2_000
"""Facts that something is done with at once, of all that were found."""
ACTIONS: dict[str, library.Action] = {word: word for word in get_args(library.Action)}

routes = APIRouter()


@routes.get("/memories")
async def table(wanted: FactQuery, memory: Memory, visit: Visit) -> Response:
    """The table of facts."""
    page = await memory.library.browse(wanted.filter(memory.zone))
    choices = await memory.library.overview()
    return visit.render(
        "memories.html",
        wanted=wanted,
        page=page,
        choices=choices,
        most=MAX_EVERY,
        node_name=_name(wanted, page.items, choices),
    )


@routes.get("/review")
async def review(memory: Memory, visit: Visit) -> Response:
    """What the owner may want to look at: who may be one, doubtful facts, what fades."""
    doubts = {
        doubt: await memory.library.browse(queries.FactFilter(status=doubt, limit=LISTED))
        for doubt in DOUBTS
    }
    (forecast,) = await memory.upkeep.preview(days=(SOON,), limit=LISTED)
    return visit.render(
        "review.html",
        conflicts=await memory.library.conflicts(),
        doubts=doubts,
        forecast=forecast,
        pairs=await memory.library.namesakes(),
        learning=await memory.learning.status(),
    )


@routes.post("/review")
async def settle(memory: Memory, visit: Visit) -> Response:
    """Let what may be one, or is doubtful, stay as it is."""
    one, _, other = visit.form.get("settle", "")[:1000].partition(" ")
    back = local_path(visit.form.get("back", "/review"))
    with or_back(back, nothing=errors.NotFoundError):
        change = await memory.library.settle(one, other, library.OWNER)
    return visit.redirect(back, what="settle", change=change.id, back=back)


@routes.post("/memories/act")
async def act(memory: Memory, visit: Visit) -> Response:
    """Do something with some facts; what destroys, or is much, is shown first."""
    given = visit.form
    back = local_path(given.get("back", "/memories"))
    word, _, only = given.get("only", "").partition(" ")
    word = word or given.get("action", "")
    action, relation = ACTIONS.get(word), given.get("relation", "")
    every = "" if only else given.get("every", "")
    if every:
        page = await memory.library.browse(_listed(every).filter(memory.zone, MAX_EVERY))
        ids = [line.fact.id for line in page.items]
    else:
        ids = [only] if only else list(dict.fromkeys(visit.choices.get("id", [])))
    if word == "export" and ids:
        with or_back(back):
            done = await memory.transfer.export(facts=ids)
        return visit.redirect("/data", what="export", count=done.lines)
    if action is None or not ids:
        return visit.redirect(back, what="nothing")
    is_small = len(ids) == 1 and action not in ("forget", "relate")
    # Of all that is found only what was shown is touched, not what came since.
    seen = hashlib.sha256("\n".join(ids).encode()).hexdigest() if every else "yes"
    is_unclear = action == "relate" and relation not in visit.words.predicates()
    if is_unclear or (not is_small and given.get("confirm") != seen):
        return visit.render(
            "memories_act.html", action=action, ids=ids, every=every, seen=seen, back=back,
            effect=await memory.library.weigh(action, ids),
            lines=await memory.library.lines(ids[:SHOWN]),
        )  # fmt: skip
    with or_back(back, nothing=errors.NotFoundError):
        change = await memory.library.act(action, ids, library.OWNER, relation)
    # What has another relation is a new fact, beside the one it was.
    facts = [op for op in change.ops if op.kind == "fact"]
    count = sum(op.before is None for op in facts) if action == "relate" else len(facts)
    # The page of what is forgotten is no more; an undo leads back there.
    gone = action == "forget" and any(back.startswith(f"/memories/{id}") for id in ids)
    return visit.redirect(
        "/memories" if gone else back, what=action, change=change.id, count=count, back=back
    )


@routes.get("/memories/{id}")
async def detail(id: Id, memory: Memory, visit: Visit) -> Response:
    """One fact with its sources and what came before and after."""
    return visit.render("memory.html", detail=await memory.library.fact(id), now=memory.now())


def _listed(address: str) -> FactListing:
    """The list that an address of the table shows, from its beginning."""
    return FactListing.model_validate(dict(parse_qsl(split(address).query)) | {"cursor": ""})


def _name(
    wanted: FactListing, lines: list[library.FactLine], choices: library.FilterOptions
) -> str:
    """What the node that is filtered by is called, from what is on the page anyway."""
    for line in lines:
        if line.fact.subject == wanted.node:
            return line.subject
        if line.fact.object == wanted.node:
            return line.object
    known = (each.name for each in (*choices.people, *choices.things) if each.node == wanted.node)
    return next(known, wanted.node)
