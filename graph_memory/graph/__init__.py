"""The graph: a Kùzu view of the journal's rows, disposable.

Only this package imports kuzu, or ladybug in its place.
"""

from .graph_queries import HOPS as HOPS
from .graph_queries import GraphEdge as GraphEdge
from .graph_queries import GraphNode as GraphNode
from .graph_queries import GraphQueries as GraphQueries
from .graph_queries import MapEdge as MapEdge
from .graph_queries import Subgraph as Subgraph
from .graph_queries import Whole as Whole
from .graph_store import GraphMap as GraphMap
from .graph_store import GraphState as GraphState
from .graph_store import GraphStore as GraphStore
