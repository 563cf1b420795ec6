"""What messages lend each other, against the plainest way to work it out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.recall.flow import AFTER, BEFORE, OWN, Flow

Amounts = list[tuple[bool, int]]
amounts = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=40)


def flow_of(documents: Amounts) -> tuple[Flow, list[bool], list[int]]:
    follows = [at > 0 and follows for at, (follows, _) in enumerate(documents)]
    return Flow(np.array(follows)), follows, [amount for _, amount in documents]


def conversations(follows: list[bool]) -> list[list[int]]:
    found: list[list[int]] = []
    for at, continues in enumerate(follows):
        if not continues:
            found.append([])
        found[-1].append(at)
    return [each for each in found if len(each) > 1]


@given(amounts)
def test_words_are_lent_to_those_beside(documents: Amounts) -> None:
    flow, follows, own = flow_of(documents)
    expected = [OWN * amount for amount in own]
    for at in range(1, len(own)):
        if follows[at]:
            expected[at] += BEFORE * own[at - 1]
            expected[at - 1] += AFTER * own[at]
    assert flow.spread_all(np.array(own, np.int64)).tolist() == expected
    some = np.flatnonzero(own).astype(np.intp)[::-1]
    hits, tenths = flow.spread(some, np.array(own, np.uint32)[some])
    found = dict(zip(hits.tolist(), tenths.tolist(), strict=True))
    assert len(found) == len(hits)
    assert found == {at: amount for at, amount in enumerate(expected) if amount}


@given(amounts)
def test_conversations_are_summed_up(documents: Amounts) -> None:
    flow, follows, own = flow_of(documents)
    together = conversations(follows)
    assert flow.members.tolist() == [at for each in together for at in each]
    assert flow.sizes.tolist() == [len(each) for each in together]
    place = flow.of_members(np.arange(len(together), dtype=np.float64))
    assert place.tolist() == [n for n, each in enumerate(together) for _ in each]
    values = np.array(own, np.float64)[flow.members]
    if together:
        best = [sum(sorted((own[at] for at in each), reverse=True)[:3]) for each in together]
        assert flow.best(values, 3).tolist() == best
    around = [
        np.mean([own[n] for n in (at - 1, at + 1) if n in each]) for each in together for at in each
    ]
    assert flow.around(values).tolist() == around
