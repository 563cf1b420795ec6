"""Where files may be, and what is there of one that was not completed."""

import contextlib
import os
import re
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.errors import FormatError, JournalError, NotFoundError
from graph_memory.transfer import files

from ..cases import tabled
from .support import put


def sent(directory: Path, name: str, data: bytes = b"{}") -> Path:
    file = files.Incoming(directory, name)
    try:
        file.write(data)
        return file.keep()
    finally:
        file.drop()


def test_only_what_is_in_the_folder_or_is_named_in_full(tmp_path: Path) -> None:
    secret, data = put(tmp_path / "secret.json", "{}"), tmp_path / "data"
    assert files.waiting(data) == []
    good = put(data / "imports" / "deep" / "a.json", "{}")
    (data / "imports" / "link.json").symlink_to(secret)
    (data / "imports" / "inner.json").symlink_to(good)
    assert files.find(data, "deep/a.json") == good.resolve()
    assert files.find(data, "inner.json") == good.resolve()
    assert files.find(data, str(secret)) == secret.resolve()
    for name in ("../../secret.json", "link.json", "deep", "none.json", "a\0b", "", "x" * 5_000):
        with pytest.raises(FormatError):
            files.find(data, name)


@tabled
def test_what_is_no_file_of_any_kind_is_told_so(tmp_path: Path, content: str, code: str) -> None:
    with pytest.raises(FormatError) as refused:
        files.detect(put(tmp_path / "x", content.encode("latin-1")))
    assert refused.value.code == code


def test_a_file_is_there_whole_and_private_or_not_at_all(tmp_path: Path) -> None:
    path = files.target(tmp_path, "everything", 0.0)
    assert re.fullmatch(r"everything-19700101T000000Z-[0-9a-f]{8}\.jsonl", path.name)
    with pytest.raises(JournalError, match="kaputt"):
        _fail(path)
    assert list(path.parent.iterdir()) == []
    with files.writing(path) as file:
        file.write("好")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "好"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_two_who_ask_in_the_same_second_are_given_their_own(tmp_path: Path) -> None:
    paths = [files.target(tmp_path, files.MINE, 0.0) for _ in range(2)]
    with files.writing(paths[0]) as hers, files.writing(paths[1]) as his:
        hers.write("1")
        his.write("2")
    assert [path.read_text() for path in paths] == ["1", "2"]


@tabled
def test_what_is_sent_in_gets_a_harmless_name(tmp_path: Path, called: str, name: str) -> None:
    file = files.Incoming(tmp_path, called)
    file.write("一".encode())
    assert files.waiting(tmp_path) == []
    path = file.keep()
    file.drop()
    assert path == tmp_path / "imports" / name
    assert path.read_text("utf-8") == "一"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert files.find(tmp_path, path.name) == path


@given(st.text(max_size=40))
def test_no_name_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, name: str):
    folder = tmp_path_factory.mktemp("in")
    try:
        path = sent(folder, name)
    except FormatError:
        return
    assert path.parent == folder / "imports"
    assert files.waiting(folder) == [path]


def test_what_is_sent_in_replaces_nothing_and_leaves_nothing_half(tmp_path, monkeypatch):
    texts = [b"1", b"22", b"333"]
    kept = [sent(tmp_path, "a.tar.gz", text) for text in texts]
    assert [path.name for path in kept] == ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"]
    assert [path.read_bytes() for path in kept] == texts
    monkeypatch.setattr(files, "MAX_SENT", 4)
    file = files.Incoming(tmp_path, "b.json")
    file.write(b"1234")
    with pytest.raises(FormatError, match=r"b\.json is larger"):
        file.write(b"5")
    file.drop()
    for name in ("", "..", "/", "...", "a/", "\x00"):
        with pytest.raises(FormatError, match="needs a name"):
            files.Incoming(tmp_path, name)
    assert sorted((tmp_path / "imports").iterdir()) == sorted(kept)


def _fail(path: Path) -> None:
    with files.writing(path) as file:
        file.write("a")
        raise OSError("kaputt")


def test_no_more_files_wait_than_can_be_looked_through(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_WAITING", 2)
    first, second = files.Incoming(tmp_path, "a.json"), files.Incoming(tmp_path, "b.json")
    with pytest.raises(FormatError, match="2 files are in imports/"):
        files.Incoming(tmp_path, "c.json")  # those that are on their way count, too
    second.drop()
    first.keep()
    put(tmp_path / "imports" / "by hand.json", "{}")
    with pytest.raises(FormatError, match="already"):
        files.Incoming(tmp_path, "c.json")
    files.discard(tmp_path, "a.json")
    files.Incoming(tmp_path, "c.json").drop()
    assert [path.name for path in files.waiting(tmp_path)] == ["by hand.json"]


def test_room_is_left_for_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a", "a")
    files.require_room(tmp_path, path)
    file = files.Incoming(tmp_path, "a.json")
    file.write(b"1")
    monkeypatch.setattr("graph_memory.store.copies.MIN_FREE", 1 << 60)
    with pytest.raises(JournalError):
        files.require_room(tmp_path, path)
    with pytest.raises(JournalError, match="no room"):
        file.write(b"2")
    file.drop()
    assert list((tmp_path / "imports").iterdir()) == []


def test_only_what_waits_is_deleted(tmp_path: Path) -> None:
    outside, folder = put(tmp_path / "outside.json", "{}"), tmp_path / "imports"
    put(folder / "deep" / "a.json", "{}")
    put(folder / ".draft.tmp", "")
    (folder / "link.json").symlink_to(outside)
    before = sorted(tmp_path.rglob("*"))
    for name in ("../outside.json", str(outside), "deep", "deep/a.json", ".draft.tmp", "", "x"):
        with pytest.raises(NotFoundError):
            files.discard(tmp_path, name)
    assert sorted(tmp_path.rglob("*")) == before
    files.discard(tmp_path, "link.json")
    assert files.waiting(tmp_path) == []
    assert outside.exists(), "what a link leads to is somebody else's"


def test_a_name_that_cannot_be_shown_hides_only_itself(tmp_path: Path) -> None:
    folder = put(tmp_path / "imports" / "a.json", "{}").parent
    with contextlib.suppress(OSError):  # some systems have no such names
        (folder / os.fsdecode("历史.json".encode("gbk"))).write_text("{}")
    assert [path.name for path in files.waiting(tmp_path)] == ["a.json"]


def test_what_a_kill_left_half_sent_is_swept_and_nothing_else(tmp_path: Path) -> None:
    files.sweep(tmp_path, time.time() + 1)  # nothing was ever sent
    coming = files.Incoming(tmp_path, "a.json")
    coming.write(b"12")
    put(tmp_path / "imports" / ".0123456789abcdef.tmp", b"half")
    put(tmp_path / "imports" / "b.tmp", b"whole")
    files.sweep(tmp_path, time.time() + 1)
    assert coming.keep().read_bytes() == b"12"
    assert sorted(path.name for path in (tmp_path / "imports").iterdir()) == ["a.json", "b.tmp"]
    files.target(tmp_path, files.MINE, 0.0).symlink_to("gone")  # as if deleted while it looks
    files.sweep(tmp_path, time.time() + 1)
