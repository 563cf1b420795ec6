"""Keys, cookies and tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_memory.access import Access
from webui import auth
from webui.auth import Attempt, Keyring, Login
from webui.throttle import FREE, FREE_FOR_ALL

KEY = "钥匙-key-0123"
HOME, ELSEWHERE = "192.0.2.1", "192.0.2.2"


def keyring(directory: Path, key: str = KEY) -> Keyring:
    """The keyring of a memory, as after a start with a key."""
    return Keyring(Access.open(directory, key))


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return keyring(tmp_path)


async def test_only_the_key_is_right(ring: Keyring) -> None:
    wrong = ("", KEY[:-1], KEY + "x", KEY.upper())
    assert [await ring.attempt(key, HOME) for key in wrong] == [Attempt(False)] * len(wrong)
    assert await ring.attempt(f" {KEY} ", HOME) == Attempt(True)


async def test_a_cookie_logs_in_until_the_key_changes(tmp_path: Path) -> None:
    ring = keyring(tmp_path)
    cookie = await ring.issue()
    assert ring.login(cookie) is not None
    reloaded = keyring(tmp_path)
    assert ring.login(cookie) == reloaded.login(cookie)
    assert reloaded.cookie == ring.cookie
    changed = keyring(tmp_path, KEY + "2")
    assert changed.login(cookie) is None
    assert changed.cookie != ring.cookie


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c", "\udcff", "IiI.aaaa.bbbb"])
def test_made_up_cookies_do_not_log_in(ring: Keyring, cookie: str) -> None:
    assert ring.login(cookie) is None


async def test_what_was_signed_for_something_else_does_not_log_in(ring: Keyring) -> None:
    assert ring.login(ring.seal({"what": "undo"})) is None
    assert ring.login(ring.know()) is None
    assert ring.unseal(await ring.issue()) == {}
    assert ring.unseal(ring.seal({"what": "undo"})) == {"what": "undo"}


async def test_cookies_grow_old(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = await ring.issue()
    monkeypatch.setattr(auth, "SESSION_AGE", -1)
    assert ring.login(cookie) is None


async def test_logging_out_ends_copies_of_the_cookie_even_after_a_reload(tmp_path: Path) -> None:
    ring = keyring(tmp_path)
    cookie, other = await ring.issue(), await ring.issue()
    login = ring.login(cookie)
    assert login is not None
    await ring.revoke(login)
    for loaded in (ring, keyring(tmp_path)):
        assert loaded.login(cookie) is None
        assert loaded.login(other) is not None


async def test_guessing_from_everywhere_slows_strangers_but_not_the_owner(ring: Keyring) -> None:
    browser = ring.know()
    assert (await ring.attempt(KEY, HOME)).is_right  # a program, known by its address
    for number in range(FREE_FOR_ALL + 3):
        await ring.attempt("wrong-guess", f"198.51.{number}.1")
    stranger = await ring.attempt(KEY, ELSEWHERE)
    assert not stranger.is_right
    assert 0 < stranger.wait <= 60
    assert (await ring.attempt(KEY, ELSEWHERE, browser)).is_right
    assert (await ring.attempt(KEY, HOME)).is_right


async def test_a_known_browser_waits_for_its_own_mistakes_only(ring: Keyring) -> None:
    mine, theirs = ring.know(), ring.know()
    for _ in range(FREE):  # all of them behind one proxy
        await ring.attempt("wrong-guess", HOME)
        await ring.attempt("wrong-guess", HOME, theirs)
    assert (await ring.attempt(KEY, HOME)).wait > 0
    assert (await ring.attempt(KEY, HOME, theirs)).wait > 0
    assert (await ring.attempt(KEY, HOME, "made.up.cookie")).wait > 0
    assert (await ring.attempt(KEY, HOME, mine)).is_right


def test_a_token_belongs_to_one_login(ring: Keyring) -> None:
    ours, others = Login("a"), Login("b")
    assert ring.owns(ours, ring.token(ours))
    assert not ring.owns(others, ring.token(ours))
    assert not ring.owns(ours, "")
    assert not ring.owns(ours, "密")
