"""Pages of facts: the table, a fact and its form, what the owner does with them."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import tzinfo
from itertools import takewhile
from typing import Annotated, get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter, Path
from starlette.responses import Response

from ..core import errors, library, locales, model, queries
from ..guard import local_path, split
from ..listing import FactListing, FactQuery, Id, midnight
from ..rendering import Memory, Visit, memory_url, or_back

LONGEST = {"statement": library.MAX_STATEMENT, "object": 100, "about": 100}
"""Characters that the fields of the form take."""
MEANT = 8
"""People and things that a name may mean, of those that are listed."""
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
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]+)?")
ACTIONS: dict[str, library.Action] = {word: word for word in get_args(library.Action)}

routes = APIRouter()


@dataclass(frozen=True, slots=True)
class FactForm:
    """What stands in the form: days as ``2025-10-09`` or empty, importance in percent."""

    statement: str = ""
    predicate: str = "other"
    object: str = ""
    since: str = ""
    until: str = ""
    expires: str = ""
    importance: str = "50"
    about: str = ""
    session: str = ""
    about_node: str = ""
    object_node: str = ""
    hearsay: str = ""

    @classmethod
    def of(cls, line: library.FactLine, words: locales.Translator) -> FactForm:
        """What a fact states now."""
        fact = line.fact
        since = words.iso(fact.valid_from)[:10]
        until, expires = (
            "" if end is None else words.iso(end - 1)[:10] for end in (fact.valid_to, fact.expires)
        )
        percent = str(round(fact.importance * 100))
        return cls(
            fact.statement, fact.predicate, line.object, since, until, expires, percent,
            line.subject, hearsay="yes" if fact.hearsay else "",
        )  # fmt: skip

    def changed(self, old: FactForm) -> set[str]:
        """The fields that say something else."""
        was = asdict(old)
        return {name for name, value in asdict(self).items() if value != was[name]}

    def filled(self, fields: Mapping[str, str]) -> FactForm:
        """The form with what was typed, which is cut where no fact is as long."""
        known = {name: fields[name][:500] for name in asdict(self) if name in fields}
        return replace(self, **known)

    def wrong(
        self, zone: tzinfo, now: float, relations: Container[str], old: FactForm | None = None
    ) -> dict[str, str]:
        """The fields that do not fit, and what each takes (``edit.wrong.…``)."""
        begin, end, gone = self._days(zone)
        is_known = self.predicate in model.PREDICATES or self.predicate in relations
        percent = self.importance if _NUMBER.fullmatch(self.importance) else "inf"
        takes = (
            ("about", "text", old or self.about.strip()),
            ("statement", "text", old or self.statement.strip()),
            ("predicate", "relation", is_known or (old and self.predicate == old.predicate)),
            ("since", "day", math.isfinite(begin or 0)),
            ("until", "order", begin is None or end is None or begin < end),
            ("until", "day", math.isfinite(end or 0)),
            ("expires", "past", (gone or now + 1) > now or (old and self.expires == old.expires)),
            ("expires", "day", math.isfinite(gone or 0)),
            ("importance", "percent", float(percent) <= 100),
        )
        return {field: what for field, what, fits in takes if not fits}

    def amendment(self, zone: tzinfo, old: FactForm | None = None) -> library.Amendment:
        """What that asks for, if nothing is wrong; what is as in ``old`` stays."""
        begin, end, gone = self._days(zone)
        new = asdict(self).keys() if old is None else self.changed(old)
        object, about = (self.object, self.object_node), (self.about, self.about_node)
        return library.Amendment(
            self.statement,
            self.predicate,
            library.Meant(*object) if {"object", "object_node"} & new else None,
            (begin, end) if {"since", "until"} & new else None,
            float(self.importance) / 100 if "importance" in new else None,
            (gone,) if "expires" in new else None,
            library.Meant(*about) if old and {"about", "about_node"} & new else None,
            self.hearsay == "yes",
        )

    def _days(self, zone: tzinfo) -> tuple[float | None, ...]:
        """When it begins, ends and is to be forgotten; infinite where that is no day."""
        days = ((self.since, 0), (self.until, 1), (self.expires, 1))
        return tuple(midnight(day, zone, later) if day else None for day, later in days)


def renamed(old: FactForm, new: FactForm) -> str | None:
    """What the object may be called in a sentence that no longer names it.

    ``None`` if it still does, or never did; empty if nothing says so.
    """
    name, before, after = old.object, old.statement, new.statement
    if not name or new.object != name or name not in before or name in after:
        return None
    begin = _shared(before, after)
    end = _shared(before[begin:][::-1], after[begin:][::-1])
    gone, instead = before[begin : len(before) - end], after[begin : len(after) - end]
    return name.replace(gone, instead, 1) if gone and gone in name else ""


def _shared(text: str, other: str) -> int:
    """How many characters two texts begin with."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False))
    )


@routes.get("/memories/new")
async def blank(memory: Memory, visit: Visit) -> Response:
    """The form in which the owner tells a fact."""
    return await _write(memory, visit, FactForm().filled(visit.query), meant=visit.query)


@routes.post("/memories/new")
async def tell(memory: Memory, visit: Visit) -> Response:
    """Keep what the owner tells, once it is clear of whom."""
    form = FactForm().filled(visit.form)
    wrong = form.wrong(memory.zone, memory.now(), visit.words.relations)
    if form.session not in {each.id for each in await memory.library.sessions()}:
        wrong["session"] = "chat"
    if wrong:
        return await _write(memory, visit, form, 422, wrong=wrong)
    about, wanted = library.Meant(form.about, form.about_node), form.amendment(memory.zone)
    try:
        change = await memory.library.tell(form.session, about, wanted)
    except errors.NotFoundError:
        return await _write(memory, visit, form, 422, notice="known", meant=LONGEST)
    except errors.UnclearError:
        return await _write(memory, visit, form, 422, notice="unclear", meant=LONGEST)
    new = next(op.id for op in change.ops if op.kind == "fact")
    return visit.redirect(memory_url(new), what="tell", change=change.id, back="/memories")


@routes.get("/memories/{id}/edit")
async def edit(id: Id, memory: Memory, visit: Visit) -> Response:
    """The form in which a fact is corrected."""
    found, given = await memory.library.fact(id), visit.query
    form = FactForm.of(found.line, visit.words).filled(given)
    return await _write(memory, visit, form, detail=found, meant=given)


@routes.post("/memories/{id}/edit")
async def amend(id: Id, memory: Memory, visit: Visit) -> Response:
    """Replace what a fact states; the old one stays as what was believed before.

    What was changed since the form was opened is shown beside what was typed.
    """
    given = visit.form
    try:
        found = await memory.library.fact(id)
    except errors.NotFoundError:  # forgotten elsewhere; what was typed is not lost
        return await _write(memory, visit, FactForm().filled(given), 404, notice="forgotten")
    stored = FactForm.of(found.line, visit.words)
    form = stored.filled(given)
    if wrong := form.wrong(memory.zone, memory.now(), visit.words.relations, stored):
        return await _write(memory, visit, form, 422, detail=found, wrong=wrong)
    guess = renamed(stored, form) if "object" in given and "asked" not in given else None
    if guess is not None:
        form = replace(form, object=guess)
        return await _write(memory, visit, form, 422, detail=found, notice="object")
    mute, seen = "mute" in given, given.get("seen", "")[:100]
    wanted = form.amendment(memory.zone, stored)
    try:
        with or_back(memory_url(id), same=errors.NotFoundError):
            change = await memory.library.amend(id, wanted, library.OWNER, seen=seen, mute=mute)
    except errors.StaleError:
        found = await _newest(memory, id)
        return await _write(memory, visit, form, 409, detail=found, notice="stale")
    except errors.UnclearError:
        return await _write(memory, visit, form, 422, detail=found, notice="unclear", meant=LONGEST)
    new = next((op.id for op in change.ops if op.kind == "fact" and op.id != id), id)
    return visit.redirect(memory_url(new), what="amend", change=change.id, back=memory_url(id))


@routes.post("/messages/{number}/recall")
async def hear_again(
    number: Annotated[int, Path(ge=1, le=2**53)], memory: Memory, visit: Visit
) -> Response:
    """Let a message be recalled that was not to be."""
    back = local_path(visit.form.get("back", "/records"))
    with or_back(back, nothing=errors.NotFoundError):
        change = await memory.library.hear_again(number, library.OWNER)
    return visit.redirect(back, what="hear_again", change=change.id, back=back)


async def _newest(memory: Memory, id: str) -> library.FactDetail:
    """A fact, or the last of those that replace it."""
    found = await memory.library.fact(id)
    seen = {id}
    while found.replaced_by and (newer := found.replaced_by[-1].fact.id) not in seen:
        seen.add(newer)
        found = await memory.library.fact(newer)
    return found


async def _write(
    memory: Memory,
    visit: Visit,
    form: FactForm,
    status: int = 200,
    *,
    detail: library.FactDetail | None = None,
    notice: str = "",
    wrong: Mapping[str, str] | None = None,
    meant: Container[str] = (),
) -> Response:
    """The form.

    Args:
        notice: Why it is shown again.
        wrong: The fields that do not fit.
        meant: The fields for which is listed whom they may mean.
    """
    session = detail.line.session.id if detail else form.session
    stored = FactForm.of(detail.line, visit.words) if detail else None
    choices = {
        field: await memory.library.search(text, MEANT, session)
        for field, text in (("about", form.about.strip()), ("object", form.object.strip()))
        if field in meant and text
    }
    cards = await memory.library.cards(each.node for some in choices.values() for each in some)
    here = [each.node for each in choices.get("about", ()) if each.here]
    is_chosen = form.about_node in ("new", *(each.node for each in choices.get("about", ())))
    if not detail and len(here) == 1 and not is_chosen:
        form = replace(form, about_node=here[0])
    return visit.render(
        "memory_edit.html",
        status,
        form=form,
        stored=stored,
        differs=form.changed(stored) if stored else (),
        detail=detail,
        sessions=[] if detail else await memory.library.sessions(),
        predicates=visit.words.predicates(form.predicate),
        longest=LONGEST,
        choices=choices,
        cards={each.node: each for each in cards},
        notice=notice,
        wrong=wrong or {},
    )


@routes.get("/memories")
async def table(wanted: FactQuery, memory: Memory, visit: Visit) -> Response:
    """The table of facts."""
    page = await memory.library.browse(wanted.filter(memory.zone))
    node = wanted.node
    names = await memory.journal.look(lambda db: queries.names(db, [node])) if node else {}
    return visit.render(
        "memories.html",
        wanted=wanted,
        page=page,
        choices=await memory.library.overview(),
        most=MAX_EVERY,
        node_name=names.get(node, node),
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
        effect = await memory.library.weigh(action, ids)
        if not effect.facts:
            return visit.redirect(back, what="already")
        return visit.render(
            "memories_act.html", action=action, ids=ids, every=every, seen=seen, back=back,
            effect=effect, lines=await memory.library.lines(ids[:SHOWN]),
        )  # fmt: skip
    with or_back(back, already=errors.NotFoundError):
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
