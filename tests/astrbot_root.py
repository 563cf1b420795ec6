"""Import this before AstrBot: importing AstrBot writes into the directory it calls its root."""

import os
import tempfile

import pytest

os.environ.setdefault("ASTRBOT_ROOT", tempfile.mkdtemp(prefix="astrbot-"))
os.environ.setdefault("ASTRBOT_DISABLE_METRICS", "1")
pytest.importorskip("astrbot", reason="AstrBot is not installed")
