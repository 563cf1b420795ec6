"""What is installed with the plugin, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.dev import release

RUNTIME = {"main.py", "metadata.yaml", "_conf_schema.json", "requirements.txt", "logo.png"}


def test_the_zip_has_the_runtime_files_in_one_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(release.package(tmp_path)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    folder = f"{release.metadata('name')}/"
    assert all(name.startswith(folder) for name in names)
    inside = {name.removeprefix(folder) for name in names}
    assert inside >= RUNTIME
    assert "graph_memory/service.py" in inside
    assert ".astrbot-plugin/i18n/en-US.json" in inside
    assert any(name.startswith("webui/templates/") for name in inside)
    unwanted = ("tests/", "docs/", "dev", ".venv", ".git", ".ci", "pyproject", "data/")
    assert [name for name in inside if name.startswith(unwanted) or "__pycache__" in name] == []


def test_the_same_files_give_the_same_zip(tmp_path: Path) -> None:
    first = release.package(tmp_path / "a").read_bytes()
    assert release.package(tmp_path / "b").read_bytes() == first


def test_a_zip_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="larger"):
        release.package(tmp_path)


def test_installing_replaces_what_an_older_version_left(tmp_path: Path) -> None:
    target = release.install(tmp_path)
    (target / "graph_memory" / "gone.py").write_text("raise SystemExit", encoding="utf-8")
    assert release.install(tmp_path) == target
    files = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    assert files == set(release.runtime_files())
