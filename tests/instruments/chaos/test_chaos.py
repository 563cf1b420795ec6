"""A small slice of the campaigns, and that they would notice what they look for."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph_memory.store import Draft, Journal
from tests.cases import tabled

from ...makers import claim_all, entity, fact, message
from . import damages, kills, surges
from .chatter import Line, extract, word
from .ledger import Ledger

pytestmark = pytest.mark.slow

SAID = next(w for n in range(99) if Line(w := word(0, 0, n)).is_fact)
LINE = Line(SAID)


def test_a_few_kills():
    score = kills.Campaign(seed=7).run(8)
    assert score.problems == []
    assert score.kills == 8
    assert score.acknowledged > 20
    assert score.comparisons >= 2, "the life's end compares twice"


def test_a_few_damages():
    toll = damages.Campaign(seed=7).run(4)
    assert toll.problems == []
    assert sum(toll.damages.values()) == 4


@pytest.mark.parametrize("name", surges.WORKS)
def test_a_small_surge(name: str):
    toll = surges.run(name, lines=2_000)
    assert toll.problems == []
    assert toll.said > 10
    assert toll.asked > 5


def test_a_surge_notices():
    toll = surges.Toll("undo", 1, refused=2, lost=1, longest_silence=1.5).judge()
    assert toll.problems == ["undo: 2 refused", "undo: 1 lost", "undo: 1.5 s without memories"]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A journal in which one line was said and learned."""
    path = tmp_path / "journal.sqlite3"
    journal = await Journal.open(path)
    await journal.append(message(LINE.session, LINE.sender, LINE.text, ref=SAID), LINE.session)
    batch, _ = await journal.claim(LINE.session.id, claim_all)
    thing = fact(LINE.session, LINE.sender, entity(SAID), f"喜欢{SAID}")
    await journal.commit(lambda _rows: Draft("learn", "learned", [thing], batch=batch.id))
    await journal.close()
    return path


def spoil(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_all_is_well(path: Path):
    assert Ledger({SAID}, {SAID}).audit(path, final=True) == []


@tabled
def test_the_ledger_notices(path: Path, statement: str, problem: str):
    spoil(path, statement)
    found = Ledger({SAID}, {SAID}).audit(path, final=True)
    assert any(line.startswith(problem) for line in found), found


def test_what_was_not_acknowledged_is_sent_again(path: Path):
    spoil(path, "DELETE FROM message")
    assert Ledger({SAID, word(0, 0, 98)}, {word(0, 0, 98)}).in_flight == [SAID]
    assert Ledger({SAID}, set()).audit(path) == [], "nobody was told that it had arrived"


@pytest.mark.parametrize("way", damages.WAYS)
def test_every_way_does_damage(tmp_path: Path, way):
    file = tmp_path / "graph-1.kuzu"
    whole = random.Random(1).randbytes(20 * damages.PAGE)
    file.write_bytes(whole)
    way(random.Random(2), file)
    left = {path.name: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    assert left != {file.name: whole}


def test_the_model_learns_what_a_line_says():
    prompt = f"<chat>\n[1] 08:00 U1 网友: {LINE.text}\n[2] 08:01 U1 网友: 今天说说 天气 吧\n</chat>"
    (found,) = extract(prompt)["facts"]
    assert (found["subject"], found["evidence"], found["statement"]) == ("U1", [1], f"喜欢{SAID}")
