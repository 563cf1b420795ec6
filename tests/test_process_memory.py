"""Freed memory goes back to the system."""

import os
import subprocess
import sys

import pytest

from graph_memory.process_memory import trim_heap

CODE = """
from pathlib import Path
from graph_memory.process_memory import trim_heap
resident = lambda: int(Path("/proc/self/statm").read_text().split()[1])
kept = []
for _ in range(2_000):  # what stays is between what goes, so that nothing shrinks by itself
    goes = bytearray(60_000)
    kept.append((bytearray(600), goes))
kept = [stays for stays, _ in kept]
before = resident()
trim_heap()
print(before - resident())
"""


@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="not glibc")
def test_glibc_gives_back_what_was_freed():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert int(done.stdout) * os.sysconf("SC_PAGESIZE") > 50_000_000


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    trim_heap()
