"""Hides packages from a Python that has this folder on its path: they cannot be imported."""

import os
import sys

sys.modules.update(dict.fromkeys(os.environ.get("GRAPH_MEMORY_HIDDEN", "").split(",")))  # type: ignore[arg-type]
