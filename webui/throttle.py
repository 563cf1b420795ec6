"""Slowing down who guesses keys."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

FREE = 5
"""Wrong keys an address may send before it has to wait."""
FIRST_WAIT = 4.0
"""Seconds of the first wait; each further wrong key doubles it."""
LONGEST_WAIT = 900.0
FORGET_AFTER = 3600.0
"""Seconds after which an address starts afresh."""
MAX_ADDRESSES = 2048


class Throttle:
    """Counts failures by address, in bounded memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until ``address`` may try again; 0 if it may now."""
        count, last = self._failures.get(_network(address), (0, 0.0))
        if count < FREE:
            return 0.0
        pause = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(count - FREE, 16))
        return max(0.0, last + pause - self._now())

    def fail(self, address: str) -> None:
        """Count a wrong key."""
        key, now = _network(address), self._now()
        count, last = self._failures.pop(key, (0, now))
        self._failures[key] = (1 if now - last > FORGET_AFTER else count + 1, now)
        while len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)

    def clear(self, address: str) -> None:
        """Forget the failures of an address that knew the key."""
        self._failures.pop(_network(address), None)

    def __len__(self) -> int:
        return len(self._failures)


def _network(address: str) -> str:
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
