"""Non-interference over every surface: what cannot be seen cannot be felt.

What a memory gives an asker equals, item by item and text by text, what it gives on a
journal from which everything was deleted that this asker may not see. The default run
takes about half a minute; ``GRAPH_MEMORY_TRIALS=2000`` searches longer, and makes what it
finds smaller, which can take minutes.
"""

import os

import pytest
from hypothesis import Phase, given, settings

from .trial import Trial, run, trials

pytestmark = pytest.mark.slow

TRIALS = os.environ.get("GRAPH_MEMORY_TRIALS", "")
QUICK = [Phase.explicit, Phase.reuse, Phase.generate]


@settings(max_examples=int(TRIALS or 10), phases=list(Phase) if TRIALS else QUICK)
@given(trials)
def test_what_cannot_be_seen_cannot_be_felt(trial: Trial) -> None:
    run(trial)
