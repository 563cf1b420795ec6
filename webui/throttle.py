"""Slowing down who guesses keys.

A wrong key counts twice: for who sent it, and for everybody. After a few, whoever sent them
waits, twice as long each time. After many, from however many addresses, everybody waits,
for at most a minute, and so one guess is made in that time. It must not be the owner who
is kept out: a browser that logged in before is known by a cookie of its own, whatever its
address, and waits for its own mistakes only; programs that sent the right key are known by
their address.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

FREE = 5
"""Wrong keys that may be sent before one has to wait."""
FREE_FOR_ALL = 50
"""Wrong keys of all strangers together before all of them have to wait."""
FIRST_WAIT = 4.0
"""Seconds of the first wait; each further wrong key doubles it."""
LONGEST_WAIT = 900.0
LONGEST_FOR_ALL = 60.0
FORGET_AFTER = 3600.0
"""Seconds after which one starts afresh."""
MAX_ADDRESSES = 2048
BROWSER = "browser:"
"""What stands before the id of a known browser, in place of an address."""

_Count = tuple[int, float]
"""How many wrong keys, and when the last one came."""


class Throttle:
    """Counts failures by who sent them, in bounded memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: OrderedDict[str, _Count] = OrderedDict()
        self._everybody: _Count = (0, 0.0)
        self._known: OrderedDict[str, None] = OrderedDict()

    def wait(self, client: str) -> float:
        """Seconds until ``client`` may try again; 0 if it may now.

        Args:
            client: An address, or a known browser.
        """
        name = network_of(client)
        own = self._left(self._failures.get(name, (0, 0.0)), FREE, LONGEST_WAIT)
        if self._is_known(name):
            return own
        return max(own, self._left(self._everybody, FREE_FOR_ALL, LONGEST_FOR_ALL))

    def fail(self, client: str) -> None:
        """Count a wrong key."""
        name = network_of(client)
        self._failures[name] = self._more(self._failures.pop(name, (0, 0.0)))
        _shorten(self._failures)
        if not self._is_known(name):
            self._everybody = self._more(self._everybody)

    def clear(self, client: str) -> None:
        """Forget the failures of who knew the key."""
        name = network_of(client)
        self._failures.pop(name, None)
        self._known[name] = None
        self._known.move_to_end(name)
        _shorten(self._known)

    def __len__(self) -> int:
        return len(self._failures)

    def _is_known(self, name: str) -> bool:
        return name.startswith(BROWSER) or name in self._known

    def _more(self, count: _Count) -> _Count:
        failures, last = count
        now = self._now()
        return (1 if now - last > FORGET_AFTER else failures + 1, now)

    def _left(self, count: _Count, free: int, longest: float) -> float:
        failures, last = count
        if failures < free:
            return 0.0
        pause = min(longest, FIRST_WAIT * 2.0 ** min(failures - free, 16))
        return max(0.0, last + pause - self._now())


def _shorten(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > MAX_ADDRESSES:
        kept.popitem(last=False)


def network_of(address: str) -> str:
    """What one person can call theirs: an IPv4 address, or an IPv6 /64 network."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found), 64), strict=False))
    return str(found)
