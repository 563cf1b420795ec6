"""All settings, in one declarative list.

A wrong value never stops the bot: :func:`read` reports it and uses the default.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .dates import quiet_hours
from .errors import SettingError
from .model import PREDICATES, Session
from .privacy.scope import Policy, Sharing
from .text import clean, clean_name

T = TypeVar("T")
Remembers = Callable[[Session, str], bool]
"""Whether what a user says in a chat is stored; see :meth:`Settings.remembers`."""

MAX_SHOWN = 40
"""Characters of a wrong value that people are shown."""
MIN_KEY = 8
"""Characters a web UI key has at least."""
PARTS = ("records", "metadata", "core_facts", "mood", "inner_state", "control_words", "proactive")
"""What the companion consists of; each part can be turned on by itself."""
CHATS = {"GroupMessage": True, "FriendMessage": False}
"""What AstrBot calls kinds of chats, and whether such a chat is a group."""
GROUPS = "*:GroupMessage:*"
"""All groups, as an entry of a list."""
MAX_NOTE = 500
"""Characters of the owner's words to the model that learns."""
MAX_RELATIONS = 20
PRESENCE = ("participated_in", "mentioned_in")
"""Relations that the graph shows beside facts."""
_RELATION = re.compile(r"([a-z][a-z_]{0,23})\s*[|｜]\s*([^|｜]+?)\s*[|｜]\s*([^|｜]+)")
"""A predicate of the owner's, with its Chinese and its English name."""
_SIGNS = str.maketrans("：＊", ":*")
ORIGIN = "https://memory.example.com"
"""What a public address of the memory page looks like."""
HOST = "127.0.0.1"
"""Where the memory page listens by default."""


def _number(default: T, low: float, high: float, *, zero: bool = False) -> T:
    """A number from ``low`` to ``high``, or with ``zero`` also 0, which means *off*."""
    found: T = dataclasses.field(default=default, metadata={"low": low, "high": high, "zero": zero})
    return found


def _choice(default: T, *choices: str) -> T:
    """One of some words, or for a tuple any of them."""
    found: T = dataclasses.field(default=default, metadata={"choices": choices})
    return found


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in use; see ``_conf_schema.json`` for what they mean to a user.

    Times: ``buffer_timeout`` seconds, ``prune_interval`` hours, ``recall_deadline`` ms,
    ``keep_messages_days`` days.
    """

    memory_sharing_mode: str = _choice("layered", "layered", "isolated", "shared")
    cross_persona_search: bool = False
    audience: str = _choice("participants", "participants", "off")
    private_chats: str = _choice("shared", "shared", "by_account")
    memory_spaces: tuple[str, ...] = ()
    llm_provider_id: str = ""
    daily_llm_tokens: int = _number(2_000_000, 10_000, 1_000_000_000, zero=True)
    remember_only: tuple[str, ...] = ()
    never_remember: tuple[str, ...] = ()
    buffer_size_private: int = _number(24, 2, 200)
    buffer_size_group: int = _number(40, 2, 200)
    buffer_timeout: int = _number(300, 10, 86_400)
    learning_note: str = ""
    extra_relations: tuple[str, ...] = ()
    embedding_provider_id: str = ""
    local_embedding_model: str = "bundled"
    rerank_provider_id: str = ""
    retrieval_top_k: int = _number(8, 1, 50)
    injection_token_budget: int = _number(600, 100, 8_000)
    recall_deadline: int = _number(800, 50, 10_000)
    enable_function_calling: bool = True
    companion: tuple[str, ...] = _choice(("records",), *PARTS)
    quiet_hours: str = "23:00-08:00"
    proactive_daily_limit: int = _number(2, 1, 20, zero=True)
    prune_interval: int = _number(24, 1, 8_760, zero=True)
    time_decay_rate: float = _number(1.0, 0, 100)
    min_importance_threshold: float = _number(0.25, 0, 0.9)
    keep_messages_days: int = _number(0, 30, 36_500, zero=True)
    shared_journal: str = ""
    webui_port: int = _number(6190, 1_024, 65_535, zero=True)
    webui_host: str = HOST
    webui_key: str = ""
    webui_public_url: str = ""
    mcp_asker: str = ""
    language: str = _choice("zh", "zh", "en")

    @property
    def is_page_exposed(self) -> bool:
        """Whether the memory page can be reached unencrypted from other machines."""
        is_local = ipaddress.ip_address(self.webui_host).is_loopback
        return not is_local and not self.webui_public_url.startswith("https://")

    @property
    def floor(self) -> float:
        """How faint a memory is that is archived; 0 where none ever is."""
        return self.min_importance_threshold if self.prune_interval else 0.0

    def remembers(self, session: Session, user: str) -> bool:
        """Whether what somebody (empty: nobody known) says in a chat may be stored."""
        if any(_lists(entry, session, user) for entry in self.never_remember):
            return False
        only = self.remember_only
        return not only or any(_lists(entry, session, user) for entry in only)

    def relations(self, language: str) -> dict[str, str]:
        """The owner's own predicates, and what each is called in a language."""
        parts = (entry.split("|") for entry in self.extra_relations)
        return {name: zh if language == "zh" else en for name, zh, en in parts}

    @property
    def policy(self) -> Policy:
        """What ``scope.py`` needs of the settings."""
        return Policy(
            Sharing(self.memory_sharing_mode),
            self.cross_persona_search,
            self.audience == "participants",
            spaces=tuple(frozenset(each.split(",")) for each in self.memory_spaces),
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """What a value of one setting must be; see :func:`_number` and :func:`_choice`."""

    name: str
    default: Any
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    zero: bool = False

    @property
    def type(self) -> type:
        return type(self.default)

    def check(self, value: Any) -> Any:
        """``value`` as this setting's type, or a ``SettingError``."""
        if self.type is tuple:
            return self._words(value)
        if self.type is str:
            return self._text(value)
        if self.type is not bool:
            return self._amount(value)
        if not isinstance(value, bool):
            raise SettingError(self.name, f"{value!r} is not true or false")
        return value

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise SettingError(self.name, "not text")  # which is not quoted: it may be the key
        value = value.strip()
        if self.choices and value not in self.choices:
            raise self._unknown(value)
        try:
            return _CHECKS[self.name](value) if self.name in _CHECKS else value
        except ValueError as error:
            wrong = SettingError(self.name, str(error))
            code = "setting_form" if self.default else "setting_form_empty"
            raise wrong.told(code, form=self.default or ORIGIN) from None

    def _words(self, value: Any) -> tuple[str, ...]:
        """Those of the accepted words (if any) that are given, in their order."""
        if not isinstance(value, list | tuple):
            raise SettingError(self.name, f"{value!r} is not a list")
        words = [word.strip() if isinstance(word, str) else word for word in value]
        if not self.choices:
            given = dict.fromkeys(str(word) for word in words if word not in ("", None))
            return _LISTS[self.name](given) if self.name in _LISTS else tuple(given)
        known = tuple(choice for choice in self.choices if choice in words)
        for word in words:
            if word not in self.choices:
                raise self._unknown(word).use(known or self.default)
        return known

    def _unknown(self, word: object) -> SettingError:
        choices = ", ".join(self.choices)
        error = SettingError(self.name, f"{word!r} is not one of {choices}")
        return error.told("setting_choice", value=str(word)[:MAX_SHOWN], choices=choices)

    def _amount(self, value: Any) -> Any:
        try:
            if isinstance(value, bool):
                raise ValueError
            number = self.type(value)
            if not math.isfinite(number) or number != float(value):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            kind = "a whole number" if self.type is int else "a number"
            raise SettingError(self.name, f"{value!r} is not {kind}") from None
        if not self.low <= number <= self.high and not (self.zero and number == 0):
            off = " (or 0 to turn it off)" if self.zero else ""
            low, high = f"{self.low:.12g}", f"{self.high:.12g}"
            error = SettingError(self.name, f"{value!r} is not between {low} and {high}{off}")
            raise error.told("setting_range", low=low, high=high)
        return number


def _lists(entry: str, session: Session, user: str) -> bool:
    """Whether an entry of a list means a chat, or somebody who speaks in it.

    It is an id, ``platform:id``, or a chat as AstrBot writes it, ``platform:GroupMessage:id``;
    ``*`` stands for anything, as an empty part does.
    """
    platform, _, place = session.circle.split(":", 2)
    account, instance = user.partition(":")[2], session.umo.partition(":")[0]
    wanted, id = entry.split(":", 1) if ":" in entry else ("*", entry)
    ids = {place, account}
    chat, is_chat, rest = id.partition(":")
    if is_chat and chat in {*CHATS, "*", ""}:
        if session.is_group != CHATS.get(chat, session.is_group):
            return False
        id, ids = rest, {place, f"{account}_{place}"}  # the latter under ``unique_session``
    is_there = any(fnmatchcase(each, wanted or "*") for each in (platform, instance))
    return is_there and any(fnmatchcase(each, id or "*") for each in ids)


def _chats(entries: Iterable[str]) -> tuple[str, ...]:
    """Who is listed, several on a line as well, with the signs as they are read."""
    listed = (each.strip() for entry in entries for each in re.split(r"[,，、;；\n]", entry))
    return tuple(dict.fromkeys(each.translate(_SIGNS) for each in listed if each))


def _relations(entries: Iterable[str]) -> tuple[str, ...]:
    """Predicates with their names, each once; what is wrong is left out and named."""
    known: dict[str, str] = {}
    wrong: list[str] = []
    for entry in entries:
        found = _RELATION.fullmatch(entry)
        name, *names = found.groups() if found else ("",)
        names = [clean_name(each) for each in names]
        is_new = name not in {"", *PREDICATES, *PRESENCE, *known}
        if is_new and all(names) and len(known) < MAX_RELATIONS:
            known[name] = "|".join([name, *names])
        else:
            wrong.append(entry)
    return _right("extra_relations", tuple(known.values()), wrong, "setting_relation")


def _spaces(entries: Iterable[str]) -> tuple[str, ...]:
    """Spaces of groups, two at least and each in one only, as ids between commas."""
    known: list[str] = []
    wrong: list[str] = []
    taken: set[str] = set()
    for entry in entries:
        groups = [each for each in re.split(r"[,，、;；\s]+", entry) if each]
        is_clear = len({":" in each for each in groups}) == 1 and "*" not in entry
        if len(set(groups)) < 2 or not is_clear or not taken.isdisjoint(groups):
            wrong.append(entry)
        else:
            taken.update(groups)
            known.append(",".join(groups))
    return _right("memory_spaces", tuple(known), wrong, "setting_space")


def _right(name: str, known: tuple[str, ...], wrong: list[str], code: str) -> tuple[str, ...]:
    """What is right of a list, or an error that says what is wrong first."""
    if wrong:
        error = SettingError(name, f"{wrong[0]!r} is not written as it has to be, or twice")
        raise error.told(code, value=wrong[0][:MAX_SHOWN]).use(known)
    return known


def _note(value: str) -> str:
    value = clean(value, MAX_NOTE + 1)
    if len(value) > MAX_NOTE:
        error = SettingError("learning_note", f"longer than {MAX_NOTE} characters")
        raise error.told("setting_long", high=MAX_NOTE)
    return value


def _key(value: str) -> str:
    if value and len(value) < MIN_KEY:
        error = SettingError("webui_key", f"shorter than {MIN_KEY} characters")
        raise error.told("setting_key", low=MIN_KEY)
    return value


def _hours(value: str) -> str:
    quiet_hours(value)
    return value


def _address(value: str) -> str:
    """An IP address to listen on; names are not resolved, which could take a while."""
    if value.lower() in {"", "localhost"}:
        return HOST
    try:
        return str(ipaddress.ip_address(value.strip("[]")))
    except ValueError:
        raise ValueError(f"{value!r} is not an IP address") from None


def _origin(value: str) -> str:
    """Scheme, name and port of an address, as browsers write them."""
    if not value:
        return value
    try:
        parts = urlsplit(value.lower().rstrip("/"))
        name, port = (parts.hostname or "").encode("idna").decode(), parts.port
        usual = {"http": 80, "https": 443}[parts.scheme]
        if not name or any(parts[2:]) or "@" in parts.netloc:
            raise ValueError
    except (ValueError, KeyError):
        raise ValueError(f"{value!r} is not like {ORIGIN}") from None
    name = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in {None, usual} else "")


def _asker(value: str) -> str:
    if value and not re.fullmatch(r"[^:#\s]+:[^:#\s]+(?:#\S.*)?", value):
        error = SettingError("mcp_asker", f"{value!r} is not like platform:account")
        raise error.told("setting_asker", value=value[:MAX_SHOWN])
    return value


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "webui_key": _key,
    "learning_note": _note,
    "quiet_hours": _hours,
    "webui_host": _address,
    "webui_public_url": _origin,
    "mcp_asker": _asker,
}
_LISTS: Mapping[str, Callable[[Iterable[str]], tuple[str, ...]]] = {
    "remember_only": _chats,
    "never_remember": _chats,
    "extra_relations": _relations,
    "memory_spaces": _spaces,
}
SETTINGS = tuple(
    Setting(field.name, field.default, **field.metadata) for field in dataclasses.fields(Settings)
)
TUNABLE = frozenset({"time_decay_rate", "min_importance_threshold", "prune_interval"})
"""Settings that can be changed while the memory is open (``MemoryService.retune``)."""


def replaced(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What settings of old, which AstrBot's file may still have, are called now."""
    if raw.get("enable_group_learning") is not False:
        return {}
    listed = raw.get("never_remember")
    entries = [*(listed if isinstance(listed, list) else ()), GROUPS]
    return {"never_remember": entries, "enable_group_learning": True}


def read(raw: Mapping[str, Any]) -> tuple[Settings, list[SettingError]]:
    """Settings from AstrBot's config, and what was wrong.

    Missing and wrong values get their default, unknown names are ignored; of a list only
    the wrong words are left out.
    """
    values: dict[str, Any] = {}
    problems: list[SettingError] = []
    raw = {**raw, **replaced(raw)}
    for setting in SETTINGS:
        if setting.name not in raw:
            continue
        try:
            values[setting.name] = setting.check(raw[setting.name])
        except SettingError as error:
            used = setting.default if error.used is None else error.used
            values[setting.name] = used
            problems.append(error.use(used))
    return dataclasses.replace(Settings(), **values), problems
