"""Pages of people, things and personas, and of merging and splitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from ..core import errors, library, model, presentation, queries
from ..listing import MAX_TEXT, Id
from ..rendering import SOON, Memory, Visit, node_url, or_back

NEWEST = 8
"""Facts that a persona's page shows of each list."""

routes = APIRouter()


@routes.get("/people")
async def people(
    memory: Memory, visit: Visit, q: Annotated[str, Query(max_length=MAX_TEXT)] = ""
) -> Response:
    """People who chat, things that are known, and personas; or who is called so."""
    if text := q.strip():
        found = await memory.library.search(text, limit=60)
        return visit.render("people.html", q=text, found=found)
    return visit.render(
        "people.html", q="", found=None, works=memory.journal.works.snapshot("forget"),
        people=await memory.library.people(),
        things=(await memory.library.overview()).things,
        personas=await memory.library.personas(),
    )  # fmt: skip


@routes.get("/persona")
async def persona(name: Id, memory: Memory, visit: Visit) -> Response:
    """What a persona knows: its chats, and its newest facts."""
    known = {each.persona: each for each in await memory.library.personas()}
    if not name or name not in known:
        raise errors.NotFoundError(f"there is no persona {name}")
    newest = queries.FactFilter(persona=name, limit=NEWEST)
    own = replace(newest, is_own=True)
    return visit.render(
        "persona.html",
        persona=known[name],
        sessions=await memory.library.sessions(name),
        newest=(await memory.library.browse(newest)).items,
        own=(await memory.library.browse(own)).items,
        mode=memory.settings.memory_sharing_mode,
    )


@routes.get("/node")
async def node(id: Id, memory: Memory, visit: Visit) -> Response:
    """Everything about one person or thing."""
    portrait = await memory.library.node(id)
    timeline = presentation.Timeline.of(portrait.threads, memory.now(), memory.zone)
    return visit.render(
        "node.html", portrait=portrait, timeline=timeline, now=memory.now(),
        sketch=presentation.Sketch.of(portrait, timeline), settings=memory.settings,
        borne=Counter(name.norm for name, _ in portrait.names),
        is_paused=memory.learning.pauses.holds("user", portrait.node),
    )  # fmt: skip


@routes.post("/node/pause")
async def pause(memory: Memory, visit: Visit) -> Response:
    """Remember nothing new that an account says, or remember it again."""
    id, pauses = await _account(memory, visit.form), memory.learning.pauses
    what = "resume" if visit.form.get("act") == "resume" else "pause"
    await (pauses.resume if what == "resume" else pauses.pause)("user", id)
    return visit.redirect(node_url(id), what=what)


@routes.get("/node/forget")
async def leave(memory: Memory, visit: Visit) -> Response:
    """What is deleted for good if an account is forgotten, and what stays."""
    id = await _account(memory, visit.query)
    name, messages, facts = await memory.journal.look(lambda db: queries.footprint(db, id))
    others = sorted(memory.identities.accounts(id) - {id})
    return visit.render(
        "node_forget.html", id=id, name=name, messages=messages, facts=facts, others=others
    )


@routes.post("/node/forget")
async def erase(memory: Memory, visit: Visit) -> Response:
    """Delete an account and all that is known of it for good, if that is meant."""
    id = await _account(memory, visit.form)
    if visit.form.get("sure") != "yes":
        return visit.redirect(f"/node/forget?{urlencode({'id': id})}", what="unsure")
    if await memory.forget_me.due_in(id):
        return visit.redirect(node_url(id), what="forgotten_now")
    done = await memory.journal.works.soon(memory.forget_me.forget(id), SOON)
    return visit.redirect("/people", what=f"forgotten_{done}" if done else "begun")


async def _account(memory: Memory, given: Mapping[str, str]) -> str:
    """The account that is asked about, or a ``NotFoundError``."""
    id = given.get("id", "")[:500]
    if model.is_entity(id) or not await memory.journal.look(lambda db: queries.is_known(db, id)):
        raise errors.NotFoundError("nobody chats under this account")
    return id


@routes.get("/node/merge")
async def choose(
    id: Id,
    memory: Memory,
    visit: Visit,
    into: Annotated[Id, Query()] = "",
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """Find what something or an account is one with, and see what saying so does."""
    portrait = await memory.library.node(id, 0)
    other = await memory.library.node(into, 0) if into else None
    own = {portrait.node, *(each.node for each in portrait.members)}
    text = q.strip() or ("" if other else portrait.name)
    found = [
        each.node
        for each in (await memory.library.search(text) if text else [])
        if model.is_entity(each.node) == model.is_entity(id) and each.node not in own
    ]
    is_linking = other is not None and not model.is_entity(id)
    return visit.render(
        "node_merge.html", portrait=portrait, other=other, q=q.strip(),
        cards=await memory.library.cards([portrait.node, other.node] if other else []),
        rivals=await memory.library.rivals(id, into) if is_linking else [],
        found=await memory.library.cards(found),
    )  # fmt: skip


@routes.post("/node/merge")
async def merge(memory: Memory, visit: Visit) -> Response:
    """Have one thing go under another, or two accounts be one person's."""
    given = visit.form
    id, into = given.get("id", "")[:500], given.get("into", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        what, bond = ("merge", edits.merge) if model.is_entity(id) else ("link", edits.link)
        change = await bond(id, into, library.OWNER)
    return visit.redirect(node_url(into), what=what, change=change.id, back=node_url(id))


@routes.post("/node/split")
async def split(memory: Memory, visit: Visit) -> Response:
    """Let a merged thing, or a linked account, be one of its own again."""
    id = visit.form.get("id", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        what, part = ("split", edits.split) if model.is_entity(id) else ("unlink", edits.unlink)
        change = await part(id, library.OWNER)
    return visit.redirect(node_url(id), what=what, change=change.id)
