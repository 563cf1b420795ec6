"""The page's key is kept as a hash, out of the journal and its backups."""

import json
import stat
from pathlib import Path

import pytest

from graph_memory import access
from graph_memory.access import FILE, Access
from graph_memory.errors import SettingError, StorageError

KEY = "钥匙-key-0123"


def kept(directory: Path) -> str:
    return (directory / FILE).read_text(encoding="utf-8")


def test_only_the_key_matches_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    for opened in (Access.open(tmp_path, KEY), Access.open(tmp_path, KEY)):
        assert opened.matches(KEY)
        for wrong in ("", KEY[:-1], KEY + "x", KEY.upper(), "\ud800", "é"):
            assert not opened.matches(wrong)
    assert KEY not in json.loads(kept(tmp_path)).values()
    assert KEY.encode().hex() not in kept(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("key", ["short", "七个字的密钥吗"])
def test_a_short_key_opens_nothing(tmp_path: Path, key: str) -> None:
    with pytest.raises(SettingError, match="webui_key"):
        Access.open(tmp_path, key)
    assert not (tmp_path / FILE).exists()


def test_a_key_is_made_once_and_shown_once(tmp_path: Path) -> None:
    made = Access.open(tmp_path, "")
    assert len(made.new_key) >= 20
    again = Access.open(tmp_path, "")
    assert again.new_key == ""
    assert again.matches(made.new_key)
    assert again.secret == made.secret
    assert made.new_key not in kept(tmp_path)


def test_a_lost_key_is_replaced_by_setting_one_and_emptying_it(tmp_path: Path) -> None:
    lost = Access.open(tmp_path, "")
    own = Access.open(tmp_path, KEY)
    assert (own.matches(KEY), own.matches(lost.new_key), own.new_key) == (True, False, "")
    new = Access.open(tmp_path, "")
    assert new.new_key
    assert new.matches(new.new_key)
    assert not any(new.matches(old) for old in (KEY, lost.new_key))
    assert len({lost.secret, own.secret, new.secret}) == 3


def test_logins_are_kept_hashed_and_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_LOGINS", 3)
    opened = Access.open(tmp_path, KEY)
    for number in range(5):
        opened.add(f"login-{number}")
    opened.end("login-3")
    opened.end("unheard of")
    for found in (opened, Access.open(tmp_path, KEY)):
        assert [found.has(f"login-{n}") for n in range(5)] == [False, False, True, False, True]
    assert "login" not in kept(tmp_path).replace('"logins"', "")
    assert len(json.loads(kept(tmp_path))["logins"]) == 2


def test_on_a_broken_disk_one_can_log_in_but_is_told_when_logging_out_fails(tmp_path: Path) -> None:
    opened = Access.open(tmp_path, KEY)
    opened.add("one")
    (tmp_path / f"{FILE}.tmp").mkdir()  # in the way
    opened.add("two")
    assert opened.has("two")
    with pytest.raises(StorageError, match=FILE):
        opened.end("one")
    assert not opened.has("one")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"salt": 1}', "\0", "[" * 9_999])
def test_nonsense_on_disk_lets_nobody_in(tmp_path: Path, text: str) -> None:
    lost = Access.open(tmp_path, "")
    lost.add("one")
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    opened = Access.open(tmp_path, "")
    assert opened.new_key
    assert not opened.matches(lost.new_key)
    assert not opened.has("one")


def test_a_link_logs_in_once_within_ten_minutes(tmp_path, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(access.time, "monotonic", lambda: now)
    opened = Access.open(tmp_path, KEY)
    assert not opened.redeem("")
    first, second = opened.link(), opened.link()
    assert not opened.redeem(first), "a newer one was asked for"
    for wrong in ("", second[:-1], second.upper(), "\ud800"):
        assert not opened.redeem(wrong)
    assert opened.redeem(second)
    assert not opened.redeem(second)
    for later, is_good in ((599.0, True), (601.0, False)):
        last = opened.link()
        now += later
        assert opened.redeem(last) is is_good
    assert second not in kept(tmp_path)
    assert not Access.open(tmp_path, KEY).redeem(opened.link()), "none outlives a reload"
