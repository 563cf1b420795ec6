"""The plugin as AstrBot installs it: which files belong to it, and the zip of them."""

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from .steps import ROOT

FILES = (
    "main.py", "metadata.yaml", "_conf_schema.json", "requirements.txt",
    "requirements-sentence-transformers.txt", "requirements-shared.txt",
    "README.md", "README_en.md", "CHANGELOG.md", "LICENSE", "logo.png",
)  # fmt: skip
FOLDERS = ("graph_memory", "webui", "pages", ".astrbot-plugin")
LEFT_OUT = ("__pycache__", ".DS_Store")
MAX_SIZE = 16 * 1024 * 1024
"""Bytes AstrBot's plugin market accepts."""


def metadata(key: str) -> str:
    """A top-level text of ``metadata.yaml``, or a ``KeyError``."""
    text = (ROOT / "metadata.yaml").read_text(encoding="utf-8")
    found = re.search(rf"^{key}:[ \t]*(.+?)[ \t]*$", text, re.MULTILINE)
    if found is None:
        raise KeyError(key)
    return found.group(1).strip("'\"")


def runtime_files() -> Iterator[Path]:
    """What the plugin consists of, relative to the checkout, in a stable order."""
    for name in FILES:
        if (ROOT / name).is_file():
            yield Path(name)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.is_file() and not any(part in LEFT_OUT for part in relative.parts):
                yield relative


def install(plugins: Path) -> Path:
    """Copy the plugin below AstrBot's ``data/plugins``, replacing an older copy."""
    target = plugins / metadata("name")
    if target.exists():
        shutil.rmtree(target)
    for path in runtime_files():
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)
    return target


def package(folder: Path) -> Path:
    """Write the zip that can be uploaded in AstrBot's dashboard.

    The same files always give the same bytes.
    """
    name = metadata("name")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}-{metadata('version').removeprefix('v')}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in runtime_files():
            entry = zipfile.ZipInfo(f"{name}/{path.as_posix()}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (ROOT / path).read_bytes())
    if target.stat().st_size > MAX_SIZE:
        raise ValueError(f"{target} is larger than {MAX_SIZE} bytes")
    return target
