"""Tombstones: what is left of somebody who was forgotten is dear to guess."""

import hashlib
import json
import stat
import threading
from pathlib import Path

from graph_memory.deletion import Tombstones
from graph_memory.deletion.forget_me import FILE
from graph_memory.deletion.plan import DeletionPlan
from graph_memory.store import Journal

from ..makers import T0, user

U, V = user("80001"), user("80002")


def first_hash(who: str, salt: str) -> str:
    """The hash that earlier versions kept: an hour of a graphics card for all accounts."""
    return hashlib.pbkdf2_hmac("sha256", who.encode(), salt.encode(), 5_000, 16).hex()


def test_a_tombstone_is_no_cheap_hash(tmp_path: Path) -> None:
    made = Tombstones.read(tmp_path)
    stone = made.add(U, T0)
    assert Tombstones.read(tmp_path).match([V, U]) == {stone.id: U}
    assert stone.id != first_hash(U, made.salt)
    memory_hard = hashlib.scrypt(
        bytes.fromhex(first_hash(U, made.salt)),
        salt=made.salt.encode(), n=4_096, r=8, p=1, dklen=16,
    )  # fmt: skip
    assert stone.id == memory_hard.hex()
    assert U not in (tmp_path / FILE).read_text()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_tombstones_of_an_earlier_version_hold_and_become_dear(tmp_path: Path) -> None:
    salt = "5a17"
    old = {"id": first_hash(U, salt), "at": T0, "done": True}
    (tmp_path / FILE).write_text(json.dumps({"salt": salt, "stones": [old]}))
    found = Tombstones.read(tmp_path)
    stone = found.find(U)
    assert stone
    assert (stone.at, stone.done) == (T0, True)
    assert found.find(V) is None
    found.add(V, T0 + 1)
    assert old["id"] not in (tmp_path / FILE).read_text()
    assert set(Tombstones.read(tmp_path).match([U, V]).values()) == {U, V}


def test_whoever_is_forgotten_while_files_are_cleaned_is_not_taken_for_done(tmp_path: Path) -> None:
    made = Tombstones.read(tmp_path)
    made.add(U, T0)
    under_way = made.unfinished
    others = [threading.Thread(target=made.add, args=(user(str(n)), T0)) for n in range(4)]
    for thread in others:
        thread.start()
    made.finish(under_way)
    for thread in others:
        thread.join()
    again = Tombstones.read(tmp_path)
    assert len(again.unfinished) == 4
    assert again.find(U) not in again.unfinished


def test_a_second_wish_is_later_than_the_first_whatever_the_clock(tmp_path: Path) -> None:
    made = Tombstones.read(tmp_path)
    first = made.add(U, T0)
    second = made.add(U, T0 - 1_000)
    assert second.at > first.at
    assert made.stones == [second]


async def test_a_plan_that_an_earlier_version_noted_can_be_read(journal: Journal) -> None:
    plan = DeletionPlan("qq:1", ids={1, 2}, rows={("name", "n:1")})
    await journal.alter(lambda db, _: plan.note(db, "user:x"))
    await journal.alter(
        lambda db, _: db.execute(
            "UPDATE meta SET value = json_remove(value, '$.newest', '$.origin') WHERE key LIKE '%x'"
        )
    )
    assert await journal.look(lambda db: DeletionPlan.noted(db, "user:x")) == plan
