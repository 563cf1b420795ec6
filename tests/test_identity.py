"""Who and what is one: whatever was merged, split, linked and undone, in any order."""

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.identity import Identities
from graph_memory.model import Change, Link, Merge, Op, User, encode, stable_id

NODES = [f"e:{letter}" for letter in "abcdef"]
USERS = [f"qq:{number}" for number in range(5)]


def merge(node: str, into: str, at: float = 0.0) -> Merge:
    return Merge(stable_id("j", node), node, into, at)


def link(a: str, b: str) -> Link:
    return Link(stable_id("k", a, b), a, b)


# What undoing and hands on the file may leave: circles, an entity merged into itself.
merges = st.builds(
    merge, st.sampled_from(NODES), st.sampled_from(NODES), st.integers(0, 3).map(float)
)
links = st.builds(link, st.sampled_from(USERS), st.sampled_from(USERS))
rows = st.lists(st.one_of(merges, links), max_size=8)


def latest(steps: list[Merge | Link]) -> list[Merge | Link]:
    return list({(row.kind, row.id): row for row in steps}.values())


def reachable(node: str, steps: list[Merge | Link]) -> set[str]:
    found = {node}
    for _ in steps:
        for row in steps:
            pair = {row.node, row.into} if isinstance(row, Merge) else {row.a, row.b}
            if pair & found:
                found |= pair
    return found


@given(rows)
def test_classes_are_what_the_rows_join(steps: list[Merge | Link]):
    identities = Identities(steps)
    standing = latest(steps)
    for node in NODES:
        assert identities.nodes(node) == reachable(node, standing)
        assert identities.canonical(node) in identities.nodes(node)
        assert len({identities.canonical(other) for other in identities.nodes(node)}) == 1
        for other in NODES:
            assert identities.is_one(node, other) == (other in identities.nodes(node))
    for user in USERS:
        assert identities.accounts(user) == reachable(user, standing)
        assert (identities.canonical(user), identities.nodes(user)) == (user, {user})


@given(rows)
def test_the_survivor_is_the_one_that_was_not_merged(steps: list[Merge | Link]):
    identities = Identities(steps)
    for node in NODES:
        free = {one for one in identities.nodes(node) if identities.absorbed(one) is None}
        assert len(free) <= 1
        if free:
            assert identities.canonical(node) in free


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(steps: list[Merge | Link], random):
    standing = latest(steps)
    shuffled = list(standing)
    random.shuffle(shuffled)
    one, other = Identities(standing), Identities(shuffled)
    for node in [*NODES, *USERS]:
        assert one.canonical(node) == other.canonical(node)
        assert one.accounts(node) == other.accounts(node)


@given(rows, rows)
def test_a_change_is_followed_and_taken_back(before: list[Merge | Link], after: list[Merge | Link]):
    before = latest(before)
    standing = {(row.kind, row.id): row for row in before}
    ops, undo = [], []
    for row in latest(after):
        was = standing.get((row.kind, row.id))
        ops.append(Op(row.kind, row.id, encode(was) if was else None, encode(row)))
        undo.append(Op(row.kind, row.id, encode(row), encode(was) if was else None))
    identities = Identities(before)
    seen = {node: identities.canonical(node) for node in NODES}  # so that it is worked out
    identities.follow(Change(1, 0.0, "owner", "merge", tuple(ops)))
    together = Identities([*before, *after])
    assert {n: identities.nodes(n) for n in NODES} == {n: together.nodes(n) for n in NODES}
    identities.follow(Change(2, 0.0, "owner", "undo", tuple(undo), undoes=1))
    assert {node: identities.canonical(node) for node in NODES} == seen
    assert identities.merges == Identities(before).merges
    assert identities.links == Identities(before).links


def test_a_circle_that_undo_closed_ends_somewhere():
    circle = [merge("e:a", "e:b"), merge("e:b", "e:c"), merge("e:c", "e:b")]
    assert {Identities(circle).canonical(node) for node in ("e:a", "e:b", "e:c")} == {"e:b"}


def test_other_rows_do_not_count():
    identities = Identities()
    identities.put(User("qq:1"))
    identities.drop(User.kind, "qq:1")
    assert identities.accounts("qq:1") == {"qq:1"}
