"""Keys, cookies and tokens."""

from __future__ import annotations

import pytest

from graph_memory.errors import SettingError
from webui import auth
from webui.auth import Keyring, Login

KEY = "钥匙-key-0123"


def test_only_the_key_matches() -> None:
    ring = Keyring(KEY)
    assert ring.matches(KEY)
    for wrong in ("", KEY[:-1], KEY + "x", KEY.upper(), "\ud800", "é"):
        assert not ring.matches(wrong)


@pytest.mark.parametrize("key", ["", "short", "七个字的密钥吗"])
def test_a_short_key_opens_nothing(key: str) -> None:
    with pytest.raises(SettingError, match="webui_key"):
        Keyring(key)


def test_a_cookie_logs_in_until_the_key_changes() -> None:
    ring = Keyring(KEY)
    cookie = ring.issue()
    assert ring.login(cookie) == Keyring(KEY).login(cookie)
    assert Keyring(KEY + "2").login(cookie) is None
    assert Keyring(KEY + "2").cookie != ring.cookie


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c", "\udcff", "IiI.aaaa.bbbb"])
def test_made_up_cookies_do_not_log_in(cookie: str) -> None:
    assert Keyring(KEY).login(cookie) is None


def test_what_was_sealed_for_something_else_does_not_log_in() -> None:
    ring = Keyring(KEY)
    assert ring.login(ring.seal({"what": "undo"})) is None
    assert ring.unseal(ring.issue()) == {}
    assert ring.unseal(ring.seal({"what": "undo"})) == {"what": "undo"}


def test_cookies_grow_old(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Keyring(KEY)
    cookie = ring.issue()
    monkeypatch.setattr(auth, "SESSION_AGE", -1)
    assert ring.login(cookie) is None


def test_logging_out_ends_copies_of_the_cookie_too() -> None:
    ring = Keyring(KEY)
    cookie, other = ring.issue(), ring.issue()
    login = ring.login(cookie)
    assert login is not None
    ring.revoke(login)
    assert ring.login(cookie) is None
    assert ring.login(other) is not None


def test_the_list_of_logged_out_cookies_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_REVOKED", 3)
    ring = Keyring(KEY)
    logins = [Login(str(number)) for number in range(5)]
    for login in logins:
        ring.revoke(login)
    assert len(ring._revoked) == 3


def test_a_token_belongs_to_one_login() -> None:
    ring = Keyring(KEY)
    ours, others = Login("a"), Login("b")
    assert ring.owns(ours, ring.token(ours))
    assert not ring.owns(others, ring.token(ours))
    assert not ring.owns(ours, "")
    assert not ring.owns(ours, "密")
