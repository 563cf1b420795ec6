"""What is installed with the plugin: bounded, and tested in known versions."""

from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .cases import each_of
from .sources import ROOT


def listed(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(each.name): each for each in found}


WANTED, TESTED = listed("requirements.txt"), listed("tests/constraints.txt")


@each_of(WANTED)
def test_no_requirement_is_open_upwards_or_untested(name: str) -> None:
    wanted = WANTED[name].specifier
    assert any(each.operator in ("<", "==") for each in wanted)
    (exact,) = TESTED[name].specifier
    assert wanted.contains(exact.version)


def test_all_that_comes_along_is_pinned_for_tests() -> None:
    needed, left = set[str](), [each for each in WANTED.values() if applies(each)]
    while left:
        one = left.pop()
        if canonicalize_name(one.name) not in needed:
            needed.add(canonicalize_name(one.name))
            more = map(Requirement, metadata.requires(one.name) or ())
            left += [each for each in more if applies(each)]
    assert needed <= TESTED.keys()
    assert {each.operator for one in TESTED.values() for each in one.specifier} == {"=="}


def applies(one: Requirement) -> bool:
    return one.marker is None or one.marker.evaluate({"extra": ""})
