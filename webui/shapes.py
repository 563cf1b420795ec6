"""One outline for each kind of node; the legend, the lists and the graph all use it.

Shape says the same as colour, for whoever cannot tell colours apart. Paths are centred
on the origin and about 20 units wide.
"""

from __future__ import annotations

SHAPES: dict[str, str] = {
    "user": "M-9 0A9 9 0 1 1 9 0A9 9 0 1 1 -9 0Z",
    "person": "M-8 8V0A8 8 0 0 1 8 0V8Z",
    "place": "M0 -10.5L10.5 0L0 10.5L-10.5 0Z",
    "organization": "M-5 -8.7H5L10 0L5 8.7H-5L-10 0Z",
    "thing": "M-8 -8H8V8H-8Z",
    "animal": "M0 -10L9.5 -3.1L5.9 8.1H-5.9L-9.5 -3.1Z",
    "work": "M-7 -9H7V9L0 4.5L-7 9Z",
    "event": "M0 -10L10 8H-10Z",
    "topic": "M-4 -7H4A7 7 0 0 1 4 7H-4A7 7 0 0 1 -4 -7Z",
    "bot": "M-4 -9.5H4L9.5 -4V4L4 9.5H-4L-9.5 4V-4Z",
    "session": "M-10 -6.5H10V6.5H2L-3 10.5V6.5H-10Z",
}


def shape_of(kind: str, type: str) -> str:
    """Which of :data:`SHAPES` a node has."""
    if kind in {"user", "session"}:
        return kind
    return type if type in SHAPES else "topic"
