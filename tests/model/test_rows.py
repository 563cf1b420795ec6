"""Rows survive the journal, ids mean what they say."""

import json

from graph_memory.model import Episode, Layer, decode, encode, is_entity, session_of, stable_id

from ..makers import entity, fact, group, name, private, user


def test_rows_survive_json():
    rows = [
        private("zhang"), name(private("zhang"), user("zhang"), "张三😀"),
        fact(
            group("1"), user("zhang"), entity("猫"), "张三养猫", evidence=(1, 2),
            supersedes=("f:1",),
        ),
        Episode("ep:1", "s", 1.0, 2.0, 1, 9, 9, participants=(user("zhang"),)),
    ]  # fmt: skip
    for row in rows:
        assert decode(row.kind, json.loads(json.dumps(encode(row)))) == row


def test_a_field_of_a_later_version_is_ignored():
    row = private("zhang")
    assert decode("session", encode(row) | {"mood": 1}) == row


def test_ids_keep_their_parts_apart():
    assert stable_id("e", "a", "bc") != stable_id("e", "ab", "c")
    assert stable_id("e", "a\x1fb") != stable_id("e", "a", "b")
    assert is_entity(entity("猫"))
    assert not is_entity(user("zhang"))


def test_sessions_cannot_be_forged_by_odd_names():
    one = session_of("qq", "a#b", "1", "c")
    other = session_of("qq", "a", "1", "b#c")
    assert one.id != other.id
    assert session_of("qq", "a%23b", "1", "c").id != one.id


def test_who_owns_a_session():
    assert private("zhang").owner == user("zhang")
    assert not private("zhang").is_group
    assert group("1").is_group
    assert session_of("qq", "1", "9", "p").circle == "qq:group:1"


def test_layer():
    assert fact(group("1"), user("a"), entity("x"), "…").layer is Layer.KNOWS
    assert fact(group("1"), entity("y"), user("a"), "…").layer is Layer.SESSION
