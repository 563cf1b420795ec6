from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from graph_memory import steps


def test_steps_are_timed_when_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with steps.step("off"):
        pass
    with monkeypatch.context() as patch:
        patch.setenv("GRAPH_MEMORY_STEPS", str(tmp_path / "steps"))
        importlib.reload(steps)
        with pytest.raises(KeyError), steps.step("remind: search"):
            raise KeyError
    importlib.reload(steps)
    name, _, took = (tmp_path / "steps").read_text().strip().rpartition(" ")
    assert name == "remind: search"
    assert 0 <= float(took) < 1000
