"""Whose turn it is: how the questions of one message share the places."""

from __future__ import annotations

from collections.abc import Sequence


def turns(worths: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """In which order what was found for several questions comes.

    Questions share the places as parties share seats (D'Hondt): the n-th memory of a question
    counts its worth divided by n. So the best of each comes first; later a question of which
    only repetitions and faint memories are left has its turn less often.

    Args:
        worths: By question: what each memory is worth, 0…1, best first.

    Returns:
        Number of the question and place in its list, of all memories.
    """
    order = sorted(
        (-max(worth, 0.0) / (place + 1), place, number)
        for number, found in enumerate(worths)
        for place, worth in enumerate(found)
    )
    return [(number, place) for _, place, number in order]
