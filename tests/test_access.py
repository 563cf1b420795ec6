"""Keys, logins, cookies and tokens: kept as hashes, and guessing gets slower and slower."""

import json
import stat
from pathlib import Path

import pytest

from graph_memory import access
from graph_memory.access import (
    BROWSER,
    FILE,
    FIRST_WAIT,
    FORGET_AFTER,
    FREE,
    FREE_FOR_ALL,
    LONGEST_FOR_ALL,
    LONGEST_WAIT,
    Access,
    Keyring,
    Throttle,
)
from graph_memory.errors import SettingError, StorageError

from .makers import Clock

KEY = "钥匙-key-0123"
HOME, ELSEWHERE = "192.0.2.1", "192.0.2.2"


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


def keyring(directory: Path, key: str = KEY) -> Keyring:
    """The keyring of a memory, as after a start with a key."""
    return Keyring(Access.open(directory, key))


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return keyring(tmp_path)


async def test_a_cookie_logs_in_until_the_key_changes(tmp_path: Path) -> None:
    ring = keyring(tmp_path)
    cookie = await ring.issue()
    assert ring.login(cookie)
    reloaded = keyring(tmp_path)
    assert ring.login(cookie) == reloaded.login(cookie)
    assert reloaded.cookie == ring.cookie
    changed = keyring(tmp_path, KEY + "2")
    assert not changed.login(cookie)
    assert changed.cookie != ring.cookie


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c", "\udcff", "IiI.aaaa.bbbb"])
def test_made_up_cookies_do_not_log_in(ring: Keyring, cookie: str) -> None:
    assert not ring.login(cookie)


async def test_what_was_signed_for_something_else_does_not_log_in(ring: Keyring) -> None:
    assert not ring.login(ring.seal({"what": "undo"}))
    assert not ring.login(ring.know())
    assert ring.unseal(await ring.issue()) == {}
    assert ring.unseal(ring.seal({"what": "undo"})) == {"what": "undo"}


async def test_cookies_grow_old(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = await ring.issue()
    monkeypatch.setattr(access, "SESSION_AGE", -1)
    assert not ring.login(cookie)


async def test_logging_out_ends_copies_of_the_cookie_even_after_a_reload(tmp_path: Path) -> None:
    ring = keyring(tmp_path)
    cookie, other = await ring.issue(), await ring.issue()
    login = ring.login(cookie)
    assert login
    await ring.revoke(login)
    for loaded in (ring, keyring(tmp_path)):
        assert not loaded.login(cookie)
        assert loaded.login(other)


async def test_guessing_from_everywhere_slows_strangers_but_not_the_owner(ring: Keyring) -> None:
    browser = ring.know()
    assert await ring.attempt(KEY, HOME) is None  # a program, known by its address
    for number in range(FREE_FOR_ALL + 3):
        await ring.attempt("wrong-guess", f"198.51.{number}.1")
    stranger = await ring.attempt(KEY, ELSEWHERE)
    assert 0 < stranger <= 60
    assert await ring.attempt(KEY, ELSEWHERE, browser) is None
    assert await ring.attempt(KEY, HOME) is None


async def test_a_known_browser_waits_for_its_own_mistakes_only(ring: Keyring) -> None:
    mine, theirs = ring.know(), ring.know()
    for _ in range(FREE):  # all of them behind one proxy
        await ring.attempt("wrong-guess", HOME)
        await ring.attempt("wrong-guess", HOME, theirs)
    assert await ring.attempt(KEY, HOME)
    assert await ring.attempt(KEY, HOME, theirs)
    assert await ring.attempt(KEY, HOME, "made.up.cookie")
    assert await ring.attempt(KEY, HOME, mine) is None


def test_a_token_belongs_to_one_login(ring: Keyring) -> None:
    ours, others = "a", "b"
    assert ring.owns(ours, ring.token(ours))
    assert not ring.owns(others, ring.token(ours))
    assert not ring.owns(ours, "")
    assert not ring.owns(ours, "密")
    assert not ring.owns(ours, ring.token(ours)[:-1])


def test_a_token_is_never_written_the_same_twice(ring: Keyring) -> None:
    one, other = ring.token("a"), ring.token("a")
    assert not {*one.split(".")} & {*other.split(".")} - {one.split(".")[1]}


def test_a_few_mistakes_are_free_then_waits_double() -> None:
    clock = Clock(1000.0)
    guard = Throttle(clock)
    waits = []
    for _ in range(FREE + 12):
        guard.fail("1.2.3.4")
        waits.append(guard.wait("1.2.3.4"))
    assert waits[: FREE - 1] == [0.0] * (FREE - 1)
    assert waits[FREE - 1 : FREE + 2] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == LONGEST_WAIT
    clock.now += LONGEST_WAIT
    assert guard.wait("1.2.3.4") == 0.0


@pytest.mark.parametrize(("failing", "same", "other"), [
    (["1.2.3.4"] * FREE, "::ffff:1.2.3.4", "1.2.3.5"),
    ([f"2001:db8::{number}" for number in range(FREE)], "2001:db8::ffff", "2001:db8:0:1::1"),
], ids=["an address", "a network"])  # fmt: skip
def test_others_need_not_wait(failing: list[str], same: str, other: str) -> None:
    guard = Throttle(Clock(1000.0))
    for address in failing:
        guard.fail(address)
    assert guard.wait(same) > 0.0
    assert guard.wait(other) == 0.0


def test_knowing_the_key_and_time_forgive() -> None:
    clock = Clock(1000.0)
    guard = Throttle(clock)
    for _ in range(FREE):
        guard.fail("a")
        guard.fail("b")
    guard.clear("a")
    assert guard.wait("a") == 0.0
    clock.now += FORGET_AFTER + 1
    guard.fail("b")
    assert guard.wait("b") == 0.0


def test_many_guesses_from_many_addresses_slow_down_every_stranger() -> None:
    clock = Clock(1000.0)
    guard = Throttle(clock)
    guard.clear("192.0.2.1")
    for number in range(FREE_FOR_ALL + 20):
        guard.fail(f"10.0.{number}.1")
    assert guard.wait("192.0.2.2") == LONGEST_FOR_ALL
    assert guard.wait("192.0.2.1") == 0.0, "the right key came from there"
    assert guard.wait(f"{BROWSER}one") == 0.0
    clock.now += LONGEST_FOR_ALL
    assert guard.wait("192.0.2.2") == 0.0
    guard.fail("192.0.2.3")
    assert guard.wait("192.0.2.2") == LONGEST_FOR_ALL
    clock.now += FORGET_AFTER + 1
    guard.fail("192.0.2.3")
    assert guard.wait("192.0.2.2") == 0.0


def test_those_who_are_known_wait_for_their_own_mistakes_and_nobody_elses() -> None:
    guard = Throttle(Clock(1000.0))
    for _ in range(FREE_FOR_ALL + 20):
        guard.fail(f"{BROWSER}one")
    assert guard.wait(f"{BROWSER}one") == LONGEST_WAIT
    assert guard.wait(f"{BROWSER}two") == 0.0
    assert guard.wait("192.0.2.2") == 0.0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_ADDRESSES", 10)
    guard = Throttle(Clock(1000.0))
    for number in range(50):
        guard.fail(f"10.0.0.{number}")
        guard.clear(f"10.1.0.{number}")
    assert len(guard._failures) == 10
    assert len(guard._known) == 10
