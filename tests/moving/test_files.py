"""Where files may be, and what is there of one that was not completed."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.errors import FormatError, JournalError
from graph_memory.moving import files
from graph_memory.moving.sources.streams import JsonReader


def test_only_what_is_in_the_folder_or_is_named_in_full(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    data = tmp_path / "data"
    assert files.waiting(data) == []
    good = data / "imports" / "deep" / "a.json"
    good.parent.mkdir()
    good.write_text("{}")
    (data / "imports" / "link.json").symlink_to(secret)
    (data / "imports" / "inner.json").symlink_to(good)
    assert files.find(data, "deep/a.json") == good.resolve()
    assert files.find(data, "inner.json") == good.resolve()
    assert files.find(data, str(secret)) == secret.resolve()
    for name in ("../../secret.json", "link.json", "deep", "none.json", "a\0b", "", "x" * 5_000):
        with pytest.raises(FormatError):
            files.find(data, name)


def test_a_file_is_there_whole_and_private_or_not_at_all(tmp_path: Path) -> None:
    path = files.target(tmp_path, "everything", 0.0)
    assert path.name == "everything-19700101T000000Z.jsonl"
    with pytest.raises(JournalError, match="kaputt"):
        _fail(path)
    assert list(path.parent.iterdir()) == []
    with files.writing(path) as file:
        file.write("好")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "好"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files.target(tmp_path, "everything", 0.0) != path


def _fail(path: Path) -> None:
    with files.writing(path) as file:
        file.write("a")
        raise OSError("kaputt")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class _Drip(io.StringIO):
    """Gives a few characters at a time, whatever is asked for."""

    def read(self, size: int | None = -1) -> str:
        return super().read(3)


@given(
    st.dictionaries(st.text(), st.lists(JSON, max_size=4) | JSON, max_size=5),
    st.sampled_from([None, 2]),
)
def test_a_large_object_is_read_piece_by_piece(data: dict[str, object], indent: int | None) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    reader = JsonReader(_Drip(text))
    found: dict[str, object] = {}
    for name in reader.members():
        found[name] = list(reader.items()) if isinstance(data[name], list) else reader.value()
    assert found == data


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_an_object_that_is_cut_off_is_none(data: dict[str, object], draw: st.DataObject) -> None:
    text = json.dumps(data)
    reader = JsonReader(_Drip(text[: draw.draw(st.integers(0, len(text) - 1))]))
    with pytest.raises(FormatError):
        _ = [reader.value() for _ in reader.members()]


def test_no_room_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("a")
    monkeypatch.setattr("graph_memory.journal.copies.MIN_FREE", 1 << 60)
    with pytest.raises(JournalError):
        files.require_room(tmp_path, path)
