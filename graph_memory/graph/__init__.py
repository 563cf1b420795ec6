"""The graph: a Kùzu view of the journal's rows.

The file is disposable. ``store.py`` has the asynchronous door; ``build.py`` makes a new
file from a snapshot, ``apply.py`` keeps it up to date, ``seal.py`` decides whether one
may be opened again, ``queries.py`` asks, ``questions.py`` what people ask,
``steps.py`` walks. Only this package imports kuzu.
"""

from .check import check
from .queries import GraphEdge, GraphNode, Neighbourhood
from .questions import HOPS, Answer, Questions, Way
from .steps import Step
from .store import GraphState, GraphStore

__all__ = [
    "HOPS",
    "Answer",
    "GraphEdge",
    "GraphNode",
    "GraphState",
    "GraphStore",
    "Neighbourhood",
    "Questions",
    "Step",
    "Way",
    "check",
]
