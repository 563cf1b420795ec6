"""The graph: a Kùzu view of the journal's rows, disposable.

Only this package imports kuzu, or ladybug in its place.
"""

from .graph_queries import HOPS, GraphEdge, GraphNode, GraphQueries, Subgraph
from .graph_store import GraphState, GraphStore

__all__ = [
    "HOPS",
    "GraphEdge",
    "GraphNode",
    "GraphQueries",
    "GraphState",
    "GraphStore",
    "Subgraph",
]
