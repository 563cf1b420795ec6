"""What a message of AstrBot's says, to whom, and what it quotes.

Platforms write a mention into the text in many ways, or leave it out of it; from here on
it reads ``@`` and a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from astrbot.api.message_components import At, AtAll, Plain, Reply

from ..model import BOT, Addressee, Quote, user_id, whole
from ..text import clean_name

_OWN = "qq_official"
"""QQ's official platform calls a bot this whose own id it does not tell."""
_NAMES_ONLY = ("telegram",)
"""Platforms that say by which name somebody is mentioned, not who that is."""
_UNKNOWN = ("", "0", "None", "unknown")


@dataclass(frozen=True, slots=True)
class Speech:
    """What somebody says.

    Attributes:
        to: Whom it mentions, each once; the bot as well, if it is spoken to in a group.
    """

    text: str
    to: tuple[Addressee, ...] = ()
    quote: Quote | None = None


def speech(event: Any, text: str | None = None, ours: Collection[str] = ()) -> Speech:
    """What is said in ``event``.

    Args:
        text: The part of it that counts (behind a command, say); all of it by default.
        ours: Other accounts that are the bot as well.
    """
    platform = event.get_platform_name()
    own = {str(event.get_self_id() or _OWN), _OWN, *ours}
    line = _Line(event.message_str if text is None else text)
    to: dict[str, Addressee] = {}
    quote: Quote | None = None
    is_to_all = False
    mentioned = _mentioned(event) if platform == "discord" else ()
    for part in (*mentioned, *event.get_messages()):
        match part:
            case AtAll() | At(qq="all"):
                is_to_all = True
            case At():
                account, name = str(part.qq), clean_name(part.name or "")
                if account in own:
                    line.drop(account, part.name)
                    to[BOT] = Addressee(BOT)
                elif platform not in _NAMES_ONLY and account not in _UNKNOWN:
                    name = name or account
                    line.mention(account, part.name, name)
                    user = user_id(platform, account)
                    to[user] = Addressee(user, name)
            case Plain():
                line.skip(part.text)
            case Reply() if quote is None:
                quote = _quote(part, platform, own)
    is_quoted = quote is not None and quote.user == BOT
    if event.get_group_id() and not is_quoted and event.is_at_or_wake_command and not is_to_all:
        to.setdefault(BOT, Addressee(BOT))
    elif is_quoted or not event.get_group_id():
        to.pop(BOT, None)  # there is nobody else to speak to, or the quote says it
    return Speech(line.text.strip(), tuple(to.values()), quote)


def _mentioned(event: Any) -> Iterator[At]:
    """The mentions that AstrBot leaves in Discord's text."""
    for user in getattr(event.message_obj.raw_message, "mentions", None) or ():
        yield At(qq=str(user.id), name=user.display_name)


def _quote(part: Reply, platform: str, own: set[str]) -> Quote:
    account = str(part.sender_id)
    user = "" if account in _UNKNOWN else user_id(platform, account)
    return Quote(
        BOT if account in own else user,
        clean_name(part.sender_nickname or ""),
        whole(str(part.id)),
        part.message_str or "",
    )


@dataclass(eq=False, slots=True)
class _Line:
    """A text in which mentions are made readable, from left to right."""

    text: str
    _at: int = 0

    def skip(self, words: str) -> None:
        """Go on behind what somebody typed; it is not there if it was a command's name."""
        words = words.strip()
        found = self.text.find(words, self._at) if words else -1
        if found >= 0:
            self._at = found + len(words)

    def mention(self, account: str, called: str | None, name: str) -> None:
        """Write the next mention of an account as ``@name``."""
        start, end = self._find(account, called) or (self._at, self._at)
        self._put(start, end, f"@{name}")

    def drop(self, account: str, called: str | None) -> None:
        """Leave the next mention of an account out."""
        if found := self._find(account, called):
            self._put(*found, "")

    def _find(self, account: str, called: str | None) -> tuple[int, int] | None:
        forms = [f"@{called}({account})", f"@{called}"] if called else []
        for form in (*forms, f"<@{account}>", f"<@!{account}>", f"@{account}"):
            found = self.text.find(form, self._at)
            if found >= 0:
                return found, found + len(form)
        return None

    def _put(self, start: int, end: int, words: str) -> None:
        head = [self.text[:start].rstrip(" "), words]
        before = " ".join(part for part in head if part)
        after = self.text[end:].lstrip(" ")
        self._at = len(before) + 1
        self.text = f"{before} {after}" if before else after
