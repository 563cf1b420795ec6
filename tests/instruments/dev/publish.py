"""``./dev release``: what has to hold, then the zip, the source and their checksums.

The version is in one place, ``metadata.yaml``. Nothing is uploaded and no tag is set: that,
and the address of the repository, are the owner's.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata as installed
from pathlib import Path
from typing import Any

from . import release, suite
from .environment import Environment, main_environment
from .steps import ROOT, StepError, heading, note

WANTED = ("name", "display_name", "short_desc", "desc", "author", "version", "astrbot_version")
"""What AstrBot's market shows and checks, of ``metadata.yaml``; ``repo`` is the owner's."""
LANGUAGES = ("zh-CN", "en-US")
VENDORED = {"graph_memory/lookalikes.json": "Apache-2.0 (OpenCC), Unicode-3.0 (confusables.txt)"}
"""Other people's work inside the zip, and its licences."""
COMPATIBLE = re.compile(
    r"(MIT|MPL-2\.0|Apache-2\.0|Apache Software|BSD|0BSD|ISC|PSF-2\.0|Zlib|CC0-1\.0)", re.IGNORECASE
)
"""Licences whose works may come along with one under the AGPL, version 3."""
AUDIT = ROOT / "tests" / "instruments" / "dev" / "requirements-audit.txt"
TESTED = ROOT / "tests" / "constraints.txt"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def git(*arguments: str) -> str:
    """What git answers."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StepError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def changelog(text: str, version: str) -> Iterator[str]:
    """What is wrong with the changelog for a version."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    said = {head: body for head, _, body in (each.partition("\n") for each in sections)}
    unreleased = said.get("[Unreleased]")
    if unreleased is None:
        yield "CHANGELOG.md has no section Unreleased"
        return
    if unreleased.strip():
        yield "CHANGELOG.md: something is unreleased; move it to this version, or to the next"
    dated = [head for head in said if head.startswith(f"[{version}] - ")]
    if not dated or not re.fullmatch(r"\[[\d.]+\] - \d{4}-\d\d-\d\d", dated[0]):
        yield f"CHANGELOG.md has no dated section for {version}"
    elif not said[dated[0]].strip():
        yield f"CHANGELOG.md says nothing about {version}"
    elif list(said)[1:2] != dated:
        yield f"CHANGELOG.md: {version} is not the newest version"


def described() -> Iterator[str]:
    """What AstrBot's market would miss."""
    for key in WANTED:
        try:
            release.metadata(key)
        except KeyError:
            yield f"metadata.yaml has no {key}"
    for language in LANGUAGES:
        told = json.loads(read(f".astrbot-plugin/i18n/{language}.json")).get("metadata", {})
        yield from (
            f"{language}.json has no {key}"
            for key in ("display_name", "short_desc", "desc")
            if not told.get(key)
        )


def committed() -> Iterator[str]:
    """Files that would be released and are not what is committed."""
    if changed := git("status", "--porcelain"):
        yield f"not committed:\n{changed.rstrip()}"
    known = set(git("ls-files").splitlines())
    yield from (
        f"{path} would be in the zip and is not in git"
        for path in map(Path.as_posix, release.runtime_files())
        if path not in known
    )


def licence(name: str) -> str:
    """The licence of an installed distribution, in its own words; empty if it says none."""
    about = installed.metadata(name)
    stated = about.get("License-Expression") or about.get("License") or ""
    if stated and stated != "UNKNOWN" and "\n" not in stated:
        return stated
    kinds = [each for each in about.get_all("Classifier") or () if each.startswith("License")]
    return ", ".join(each.rpartition(" :: ")[2] for each in kinds)


def licences() -> dict[str, str]:
    """Name and version of each part, vendored or required, and its licence."""
    pinned = re.findall(r"^([\w.-]+)==([^\s;]+)", TESTED.read_text(encoding="utf-8"), re.MULTILINE)
    return VENDORED | {f"{name} {version}": licence(name) for name, version in pinned}


def licensed(parts: dict[str, str]) -> Iterator[str]:
    """Parts that may not come along, or of which it is not known."""
    for part, named in parts.items():
        if not COMPATIBLE.search(named):
            yield f"{part}: licence {named or 'unknown'}"


def vulnerable() -> Iterator[str]:
    """What pip-audit knows against the tested versions; nothing if it cannot ask."""
    try:
        auditing = Environment(ROOT / ".venv-audit", AUDIT, main_environment().base)
        auditing.ensure()
    except StepError as error:
        note(f"pip-audit was not asked: {str(error).splitlines()[0]}")
        return
    command = [auditing.python, "-m", "pip_audit", "--no-deps", "--disable-pip", "-f", "json"]
    done = subprocess.run(
        [str(part) for part in [*command, "-r", TESTED]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.startswith("{"):
        note(f"pip-audit was not asked: {(done.stderr.splitlines() or [''])[-1][:200]}")
        return
    yield from audited(json.loads(done.stdout)["dependencies"])


def audited(parts: list[dict[str, Any]]) -> Iterator[str]:
    """What pip-audit has found, in its own JSON; how much it could not look up is noted."""
    for part in parts:
        if known := [each["id"] for each in part.get("vulns", ())]:
            yield f"{part['name']} {part['version']}: {', '.join(known)}"
    if skipped := sum("skip_reason" in part for part in parts):
        note(f"pip-audit could not look up {skipped} of {len(parts)} parts")


def packed(archive: Path) -> Iterator[str]:
    """What is wrong with the zip: it has to be the same when it is made again."""
    folder = release.metadata("name")
    with zipfile.ZipFile(archive) as made:
        names = set(made.namelist())
    if names != {f"{folder}/{path.as_posix()}" for path in release.runtime_files()}:
        yield "the zip does not hold what the plugin consists of"
    if release.package(archive.parent / "again").read_bytes() != archive.read_bytes():
        yield "the zip is not the same when it is made again"
    (archive.parent / "again" / archive.name).unlink()
    (archive.parent / "again").rmdir()


def source(folder: Path) -> Path:
    """The source archive of what is committed, the same bytes for the same commit."""
    stem = f"{release.metadata('name')}-{release.metadata('version').removeprefix('v')}"
    target = folder / f"{stem}-source.tar.gz"
    git("archive", "--format=tar.gz", f"--prefix={stem}/", f"--output={target}", "HEAD")
    return target


def checksums(folder: Path, files: list[Path]) -> Path:
    """``SHA256SUMS`` beside some files, as ``sha256sum --check`` reads it."""
    lines = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files]
    target = folder / "SHA256SUMS"
    target.write_text("".join(lines), encoding="utf-8")
    return target


def publish(folder: Path) -> list[Path]:
    """Check, then build everything; the error says all that must be mended first."""
    version = release.metadata("version").removeprefix("v")
    parts = licences()
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "changelog": lambda: changelog(read("CHANGELOG.md"), version),
        "the market's entry": described,
        "what is committed": committed,
        "licences": lambda: licensed(parts),
        "known vulnerabilities": vulnerable,
    }
    wrong = []
    for title, check in checks.items():
        found = list(check())
        note(f"{title}: {len(found) or 'nothing'} to mend")
        wrong += found
    if wrong:
        raise StepError("\n".join(wrong))
    archive = release.package(folder)
    if found := list(packed(archive)):
        raise StepError("\n".join(found))
    listed = folder / f"{archive.stem}-licences.txt"
    listed.write_text("".join(f"{part}: {of}\n" for part, of in parts.items()), encoding="utf-8")
    files = [archive, source(folder), listed]
    return [*files, checksums(folder, files)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__)
    parser.add_argument("--untested", action="store_true", help="without ./dev test before it")
    untested = parser.parse_args(arguments).untested
    if not untested and not suite.run(list(suite.PARTS), main_environment()):
        return 1
    heading(f"Release {release.metadata('version')}")
    try:
        for path in publish(ROOT / "dist"):
            note(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")
    except StepError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    if untested:
        note("The tests were not run.")
    try:
        release.metadata("repo")
    except KeyError:
        note("The owner's: a tag, `repo` in metadata.yaml, the entry in AstrBot's market.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
