"""The example of ``docs/library.md`` is short, and runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

from .sources import ROOT


def test_the_example_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 20
    done = subprocess.run([
        sys.executable, "-W", "error", "-c",
        f"import sys; sys.modules['astrbot'] = None\n{example}",
    ], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "I am allergic to peanuts" in done.stdout
