"""How learning is doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Failure
from ..journal import QueuedBatch
from ..token_budget import Cost


@dataclass(frozen=True, slots=True)
class LearningStatus:
    """How learning is doing.

    Attributes:
        buffered: Messages that no batch has claimed.
        waiting, dead: Batches to be tried (again), and given up.
        failed, failure: Number of the newest batch that failed and is not learned yet, and
            why; 0 and empty if there is none.
        over_share: Waiting batches of people who have cost their share of the day.
        last_learned_at: Since the start; ``None`` if nothing was.
        calls, tokens_in, tokens_out: Asked of the model today.
    """

    buffered: int
    waiting: int
    dead: int
    failed: int
    failure: str
    over_share: int
    last_learned_at: float | None
    calls: int
    tokens_in: int
    tokens_out: int

    @classmethod
    def of(
        cls,
        queue: Sequence[QueuedBatch],
        held: Sequence[QueuedBatch],
        buffered: int,
        last_at: float | None,
        cost: Cost,
    ) -> LearningStatus:
        """The status that follows from what waits and what was asked."""
        failed = next((batch for batch in reversed(queue) if batch.error), None)
        return cls(
            buffered=buffered,
            waiting=sum(1 for batch in queue if batch.state == "waiting"),
            dead=sum(1 for batch in queue if batch.state == "dead"),
            failed=failed.id if failed else 0,
            failure=Failure.read(failed.error).value if failed else "",
            over_share=len(held),
            last_learned_at=last_at,
            calls=cost.calls,
            tokens_in=cost.tokens_in,
            tokens_out=cost.tokens_out,
        )
