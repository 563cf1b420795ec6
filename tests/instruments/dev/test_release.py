"""What is installed with the plugin, and nothing else."""

import struct
import zipfile
from pathlib import Path

import pytest

from tests.instruments.dev import release
from tests.instruments.dev.steps import ROOT

RUNTIME = {"main.py", "metadata.yaml", "_conf_schema.json", "requirements.txt", "logo.png"}
SHOWN = {"README.md", "CHANGELOG.md", "LICENSE"}
SHOWN |= {f".astrbot-plugin/i18n/{language}.json" for language in ("zh-CN", "en-US")}
WEBUI = ("webui/templates/", "pages/memory/static/", "graph_memory/locales/")


def test_the_zip_has_the_runtime_files_in_one_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(release.package(tmp_path)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    folder = f"{release.metadata('name')}/"
    assert all(name.startswith(folder) for name in names)
    inside = {name.removeprefix(folder) for name in names}
    assert inside >= RUNTIME | SHOWN
    assert "graph_memory/service.py" in inside
    for part in WEBUI:
        assert any(name.startswith(part) for name in inside)
    unwanted = ("tests/", "docs/", "dev", ".venv", ".git", ".ci", "pyproject", "data/")
    assert [name for name in inside if name.startswith(unwanted) or "__pycache__" in name] == []


def test_the_market_can_show_it() -> None:
    header = (ROOT / "logo.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", header[16:24]) == (256, 256)


def test_the_oldest_astrbot_is_the_one_that_is_tested() -> None:
    oldest = release.metadata("astrbot_version").removeprefix(">=")
    pinned = (ROOT / "tests" / "e2e" / "requirements-oldest.txt").read_text(encoding="utf-8")
    assert f"\nastrbot=={oldest}\n" in pinned


def test_a_zip_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="larger"):
        release.package(tmp_path)


def test_installing_replaces_what_an_older_version_left(tmp_path: Path) -> None:
    target = release.install(tmp_path)
    (target / "graph_memory" / "gone.py").write_text("raise SystemExit", encoding="utf-8")
    assert release.install(tmp_path) == target
    files = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    assert files == set(release.runtime_files())
