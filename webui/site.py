"""Addresses under which the memory page is served, and those that ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope


def split(url: str) -> SplitResult:
    """The parts of an address that somebody sent; all are empty if it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # is looked at only now
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


@dataclass(frozen=True, slots=True)
class Site:
    """Where the page is, as the owner says.

    A name that nobody told us of is refused: any page of the web can let its own name lead
    here (DNS rebinding) and would be ours to the owner's browser.

    Attributes:
        public_url: What a proxy before the page serves it as, or a name of this machine;
            empty if there is none.
    """

    public_url: str = ""

    def serves(self, headers: Headers) -> bool:
        """Whether a request's ``Host`` is an IP address, localhost or the public name."""
        host = headers.get("host", "")
        parts = split(f"//{host}")
        name = parts.hostname or ""
        if parts.netloc != host or "@" in host:
            return False
        return name == "localhost" or _is_ip(name) or (name != "" and name == self._name)

    def sent(self, headers: Headers) -> bool:
        """Whether a change comes from a page of ours."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in {"same-origin", "none"}
        netloc = split(origin).netloc.lower()
        return netloc == headers.get("host", "").lower() != "" or self._is_public(origin)

    def is_encrypted(self, scope: Scope) -> bool:
        """Whether a browser that asks so comes by HTTPS, to the proxy if there is one."""
        headers = Headers(scope=scope)
        if scope["scheme"] == "https":
            return True
        by_name = split(f"//{headers.get('host', '')}").hostname == self._name
        is_public = by_name or self._is_public(headers.get("origin", ""))
        return is_public and self.public_url.startswith("https://")

    def address_of(self, scope: Scope) -> str:
        """Address of who asks.

        A proxy says for whom it asks. Whoever reaches the port past it may claim to be
        another; against such guesses there is the limit for everybody (``throttle.py``).
        """
        address = str((scope.get("client") or ("",))[0])
        told = Headers(scope=scope).get("x-forwarded-for", "").rpartition(",")[2].strip()
        is_near = _is_ip(address) and ip_address(address).is_private
        return told if self.public_url and is_near and _is_ip(told) else address

    @property
    def _name(self) -> str:
        return split(self.public_url).hostname or ""

    def _is_public(self, origin: str) -> bool:
        return bool(self.public_url) and origin.lower() == self.public_url


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
