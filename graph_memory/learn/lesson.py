"""What the call that learns is asked besides, and what becomes of the answer.

The companion needs a model now and then, and one call a batch is what there is: it adds
fields to that call's schema and reads them from its answer. Without a lesson the request is
what it always was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..journal import Draft, Rows
from ..model import Batch
from .known import Known


class Lesson(Protocol):
    """Goes with one batch.

    Attributes:
        properties: JSON schemas of the fields that are asked for, by name.
        lines: What is shown beside the known items; safe to stand in the fence.
    """

    @property
    def properties(self) -> Mapping[str, Any]: ...

    @property
    def lines(self) -> Sequence[str]: ...

    def instructions(self, language: str) -> str:
        """What the fields mean, a line each."""

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add to the batch's change.

        Args:
            rows: As they stand now.
            draft: With what was learned otherwise.
            answer: The fields as the model gave them, whatever they are.
        """


Teacher = Callable[[Rows, Batch, Known], Lesson | None]
"""Makes the lesson of a batch; ``None`` if there is none."""
