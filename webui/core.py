"""Modules of the memory that the web UI uses, imported relatively or absolutely.

AstrBot imports the plugin as a package of its own, ``data.plugins.<folder>``, in which the
memory is this package's sibling. Tests and tools run in the checkout, where both are
top-level packages, and from one of those Python has no relative way to another. Only this
module knows the difference; all others import from here what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "webui":
    from graph_memory import (
        access,
        errors,
        graph,
        library,
        locales,
        model,
        recall,
        retention,
        service,
        settings,
        transfer,
        validity,
        view_as,
    )
    from graph_memory.store import queries
    from graph_memory.transfer import files
else:
    from ..graph_memory import (
        access,
        errors,
        graph,
        library,
        locales,
        model,
        recall,
        retention,
        service,
        settings,
        transfer,
        validity,
        view_as,
    )
    from ..graph_memory.store import queries
    from ..graph_memory.transfer import files

__all__ = [
    "access",
    "errors",
    "files",
    "graph",
    "library",
    "locales",
    "model",
    "queries",
    "recall",
    "retention",
    "service",
    "settings",
    "transfer",
    "validity",
    "view_as",
]
