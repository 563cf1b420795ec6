"""What has to hold before a release, and what it consists of."""

import hashlib
import re
import zipfile
from pathlib import Path

import pytest

from tests.cases import tabled
from tests.instruments.dev import publish, release
from tests.instruments.dev.steps import ROOT


@tabled
def test_the_changelog_tells_of_the_version(text: str, version: str, problem: str) -> None:
    found = list(publish.changelog(text, version))
    assert len(found) == bool(problem)
    assert all(problem in each for each in found)


def test_the_markets_entry_is_complete(monkeypatch):
    assert list(publish.described()) == []
    monkeypatch.setattr(publish, "WANTED", ("name", "nobody"))
    assert list(publish.described()) == ["metadata.yaml has no nobody"]


def test_everything_that_comes_along_may() -> None:
    parts = publish.licences()
    assert {re.sub(r" .*", "", part) for part in parts} >= {"kuzu", "numpy", "fastapi"}
    assert list(publish.licensed(parts)) == []
    assert list(publish.licensed({"a 1": "", "b 2": "Proprietary", "c 3": "MIT"})) == [
        "a 1: licence unknown",
        "b 2: licence Proprietary",
    ]


def test_other_peoples_work_in_the_zip_is_listed() -> None:
    claimed = re.compile(r"\b(?:Apache|BSD|MIT|Unicode) Licen[cs]e\b|\bCopyright\b|©")
    data = [path for path in release.runtime_files() if path.suffix in (".json", ".js", ".css")]
    found = {path.as_posix() for path in data if claimed.search((ROOT / path).read_text("utf-8"))}
    assert found == set(publish.VENDORED)


def test_what_could_not_be_looked_up_is_not_called_safe(capsys):
    parts: list[dict[str, object]] = [
        {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}, {"id": "GHSA-2"}]},
        {"name": "b", "skip_reason": "not found"},
        {"name": "c", "version": "3", "vulns": []},
    ]
    assert list(publish.audited(parts)) == ["a 1: PYSEC-1, GHSA-2"]
    assert "1 of 3" in capsys.readouterr().out


def test_a_zip_that_is_not_what_the_plugin_is_is_found(tmp_path: Path) -> None:
    archive = release.package(tmp_path)
    assert list(publish.packed(archive)) == []
    assert list(tmp_path.iterdir()) == [archive]
    with zipfile.ZipFile(archive, "a") as made:
        made.writestr("astrbot_plugin_graph_memory/notes.txt", "private")
    assert len(list(publish.packed(archive))) == 2


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a source archive, not a checkout")
def test_the_source_of_a_commit_is_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = publish.source(tmp_path / "a"), publish.source(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    assert first.name.endswith("-source.tar.gz")


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"abc")
    sums = publish.checksums(tmp_path, [tmp_path / "a.zip"])
    assert sums.read_text() == f"{hashlib.sha256(b'abc').hexdigest()}  a.zip\n"
