"""Drawings: icons of buttons and places, outlines of kinds of nodes."""

from __future__ import annotations

from typing import Final

ICONS: Final = {
    "overview": "M4 19V5m0 14h16M8.5 15.500V11m4.500 4.500V7m4.500 8.500V13",
    "memories": "M5 6h14M5 12h14M5 18h9",
    "graph": (
        "M7 17L12 7l6 7M7 17l11-3M7 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z"
        "M12 8.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z"
        "M18 16.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z"
    ),
    "viewas": (
        "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12z"
        "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z"
    ),
    "why": (
        "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z"
        "M9.500 9.500a2.500 2.500 0 1 1 3.600 2.200c-.8.4-1.100.9-1.100 1.800M12 16.700v.1"
    ),
    "records": (
        "M6 3.500v17M6 7h0M6 12h0M6 17h0M10.500 7H20M10.500 12H20M10.500 17h6"
        "M7.600 7a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0z"
        "M7.600 12a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0z"
        "M7.600 17a1.600 1.600 0 1 1-3.200 0 1.600 1.600 0 0 1 3.200 0z"
    ),
    "tuning": (
        "M4 7h9m5 0h2M4 17h2m5 0h9"
        "M15.500 9.300a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600z"
        "M8.500 19.300a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600z"
    ),
    "data": (
        "M12 9.500c4.400 0 7.500-1.300 7.500-3S16.400 3.500 12 3.500"
        " 4.500 4.800 4.500 6.500s3.100 3 7.500 3z"
        "M4.500 6.500v11c0 1.700 3.100 3 7.500 3s7.500-1.300 7.500-3v-11"
        "M4.500 12c0 1.700 3.100 3 7.500 3s7.500-1.300 7.500-3"
    ),
    "search": "M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500L20 20",
    "leave": "M14 5H6v14h8M10.500 12H20m-3.500-3.500L20 12l-3.500 3.500",
    "back": "M19 12H5m6-6l-6 6 6 6",
    "close": "M6 6l12 12M18 6L6 18",
    "more": "M6 12h.01M12 12h.01M18 12h.01",
    "pin": "M9 3.500h6l-.8 6 3 3.500H6.800l3-3.500zM12 13v7.500",
    "edit": "M5 19l.8-3.600L16 5.200l2.800 2.800L8.600 18.200zM13.700 7.500l2.800 2.800",
    "archive": "M4 5h16v4H4zM5.500 9v10h13V9M10 13h4",
    "restore": "M5 5v5h5M5.500 10A7.500 7.500 0 1 1 5 14.500",
    "forget": (
        "M5 7h14M10 7V4.500h4V7M7 7l.8 12.500h8.400L17 7M10.300 10.500v5.500M13.700 10.500v5.500"
    ),
    "quote": "M5 6h14v10h-8l-4 3.500V16H5z",
    "filter": "M4 6h16M7 12h10M10 18h4",
    "down": "M12 4v11m-4.500-4.500L12 15l4.500-4.500M5 19.500h14",
    "up": "M12 16V5M7.500 9.500L12 5l4.500 4.500M5 19.500h14",
    "check": "M5 12.500l4.500 4.500L19 7",
    "merge": "M7 4v4c0 3 5 4 5 7v5M17 4v4c0 3-5 4-5 7",
    "people": (
        "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z"
        "M3 19.500c.5-3.500 3-5.500 6-5.500s5.500 2 6 5.500"
        "M16 4.500a3.300 3.300 0 0 1 0 6.300M17.500 14c2 .7 3.200 2.600 3.500 5.500"
    ),
    "clock": "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5.500l3.500 2",
}
"""Path data by name, in a square of 24 units; every page carries them once."""

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
"""One outline for each kind of node; the legend, the lists and the graph all use it.

Shape says the same as colour, for whoever cannot tell colours apart. Paths are centred
on the origin and about 20 units wide.
"""


def shape_of(kind: str, type: str) -> str:
    """Which of :data:`SHAPES` a node has."""
    if kind in {"user", "session"}:
        return kind
    return type if type in SHAPES else "topic"
