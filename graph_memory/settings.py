"""All settings, in one declarative list.

``_conf_schema.json``, the i18n files and the README are tested against
:data:`SETTINGS`. A wrong value never stops the bot: :func:`read` reports it and uses
the default.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .errors import SettingError
from .hours import quiet_hours
from .scope import Policy, Sharing

MAX_SHOWN = 40
"""Characters of a wrong value that people are shown."""
MIN_KEY = 8
"""Characters a web UI key has at least."""
PARTS = ("records", "metadata", "core_facts", "mood", "inner_state", "control_words", "proactive")
"""What the companion consists of; each part can be turned on by itself."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in use; see ``_conf_schema.json`` for what they mean to a user.

    Times: ``buffer_timeout`` seconds, ``prune_interval`` hours, ``recall_deadline`` ms,
    ``keep_messages_days`` days.
    """

    memory_sharing_mode: str = "layered"
    cross_persona_search: bool = False
    audience: str = "participants"
    llm_provider_id: str = ""
    daily_llm_tokens: int = 2_000_000
    enable_group_learning: bool = True
    buffer_size_private: int = 14
    buffer_size_group: int = 40
    buffer_timeout: int = 300
    embedding_provider_id: str = ""
    local_embedding_model: str = "bundled"
    retrieval_top_k: int = 8
    injection_token_budget: int = 600
    recall_deadline: int = 800
    enable_query_rewriting: bool = False
    enable_function_calling: bool = True
    companion: tuple[str, ...] = ("records",)
    quiet_hours: str = "23:00-08:00"
    proactive_daily_limit: int = 2
    prune_interval: int = 24
    time_decay_rate: float = 1.0
    min_importance_threshold: float = 0.25
    keep_messages_days: int = 0
    webui_port: int = 6190
    webui_host: str = "127.0.0.1"
    webui_key: str = ""
    webui_public_url: str = ""
    language: str = "zh"

    @property
    def is_page_exposed(self) -> bool:
        """Whether the memory page can be reached unencrypted from other machines."""
        is_local = ipaddress.ip_address(self.webui_host).is_loopback
        return not is_local and not self.webui_public_url.startswith("https://")

    @property
    def policy(self) -> Policy:
        """What ``scope.py`` needs of the settings."""
        return Policy(
            Sharing(self.memory_sharing_mode),
            self.cross_persona_search,
            self.audience == "participants",
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """What a value of one setting must be.

    Attributes:
        low, high: Bounds of a number, both inclusive.
        choices: Accepted words; of a ``tuple``, those it may hold.
        zero: Whether 0 is accepted below ``low`` (it means *off*).
    """

    name: str
    type: type
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    zero: bool = False

    @property
    def default(self) -> Any:
        return getattr(Settings(), self.name)

    def check(self, value: Any) -> Any:
        """``value`` as this setting's type.

        Raises:
            SettingError: It cannot be used.
        """
        if self.type is bool:
            if not isinstance(value, bool):
                raise SettingError(self.name, f"{value!r} is not true or false")
            return value
        if self.type is str:
            if not isinstance(value, str):
                raise SettingError(self.name, "not text")  # which is not quoted: it may be the key
            value = value.strip()
            if self.choices and value not in self.choices:
                raise self._unknown(value)
            if self.name == "webui_key" and value and len(value) < MIN_KEY:
                raise SettingError(self.name, f"shorter than {MIN_KEY} characters")
            if self.name == "quiet_hours":
                return self._hours(value)
            if self.name == "webui_host":
                return self._address(value)
            return self._origin(value) if self.name == "webui_public_url" and value else value
        if self.type is tuple:
            return self._words(value)
        return self._number(value)

    def _hours(self, value: str) -> str:
        try:
            quiet_hours(value)
        except ValueError as error:
            raise SettingError(self.name, str(error)) from None
        return value

    def _address(self, value: str) -> str:
        """An IP address to listen on; names are not resolved, which could take a while."""
        if value.lower() in {"", "localhost"}:
            return str(self.default)
        try:
            return str(ipaddress.ip_address(value.strip("[]")))
        except ValueError:
            raise SettingError(self.name, f"{value!r} is not an IP address") from None

    def _origin(self, value: str) -> str:
        """Scheme, name and port of an address, as browsers write them."""
        try:
            parts = urlsplit(value.lower().rstrip("/"))
            name, port = (parts.hostname or "").encode("idna").decode(), parts.port
            usual = {"http": 80, "https": 443}[parts.scheme]
            if not name or any(parts[2:]) or "@" in parts.netloc:
                raise ValueError
        except (ValueError, KeyError):
            reason = f"{value!r} is not like https://memory.example.com"
            raise SettingError(self.name, reason) from None
        name = f"[{name}]" if ":" in name else name
        return f"{parts.scheme}://{name}" + (f":{port}" if port not in {None, usual} else "")

    def _words(self, value: Any) -> tuple[str, ...]:
        """Those of the accepted words that are given, in their own order."""
        if not isinstance(value, list | tuple):
            raise SettingError(self.name, f"{value!r} is not a list")
        words = [word.strip() if isinstance(word, str) else word for word in value]
        known = tuple(choice for choice in self.choices if choice in words)
        for word in words:
            if word not in self.choices:
                raise self._unknown(word).use(known or self.default)
        return known

    def _unknown(self, word: object) -> SettingError:
        choices = ", ".join(self.choices)
        error = SettingError(self.name, f"{word!r} is not one of {choices}")
        return error.told("setting_choice", value=str(word)[:MAX_SHOWN], choices=choices)

    def _number(self, value: Any) -> Any:
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


SETTINGS: tuple[Setting, ...] = (
    Setting("memory_sharing_mode", str, choices=("layered", "isolated", "shared")),
    Setting("cross_persona_search", bool),
    Setting("audience", str, choices=("participants", "off")),
    Setting("llm_provider_id", str),
    Setting("daily_llm_tokens", int, 10_000, 1_000_000_000, zero=True),
    Setting("enable_group_learning", bool),
    Setting("buffer_size_private", int, 2, 200),
    Setting("buffer_size_group", int, 2, 200),
    Setting("buffer_timeout", int, 10, 86_400),
    Setting("embedding_provider_id", str),
    Setting("local_embedding_model", str),
    Setting("retrieval_top_k", int, 1, 50),
    Setting("injection_token_budget", int, 100, 8_000),
    Setting("recall_deadline", int, 50, 10_000),
    Setting("enable_query_rewriting", bool),
    Setting("enable_function_calling", bool),
    Setting("companion", tuple, choices=PARTS),
    Setting("quiet_hours", str),
    Setting("proactive_daily_limit", int, 1, 20, zero=True),
    Setting("prune_interval", int, 1, 8_760, zero=True),
    Setting("time_decay_rate", float, 0, 100),
    Setting("min_importance_threshold", float, 0, 0.9),
    Setting("keep_messages_days", int, 30, 36_500, zero=True),
    Setting("webui_port", int, 1_024, 65_535, zero=True),
    Setting("webui_host", str),
    Setting("webui_key", str),
    Setting("webui_public_url", str),
    Setting("language", str, choices=("zh", "en")),
)


TUNABLE = frozenset({"time_decay_rate", "min_importance_threshold", "prune_interval"})
"""Settings that can be changed while the memory is open (``MemoryService.retune``)."""


class LiveSettings:
    """The settings in use, shared by all parts of a memory.

    Attributes:
        current: As they are now.
    """

    def __init__(self, settings: Settings) -> None:
        self.current = settings

    def tune(self, **values: float) -> None:
        """Go by other values of some of :data:`TUNABLE` from now on."""
        if unknown := values.keys() - TUNABLE:
            raise ValueError(f"{', '.join(sorted(unknown))} cannot be changed while in use")
        self.current = dataclasses.replace(self.current, **values)  # type: ignore[arg-type]


def read(raw: Mapping[str, Any]) -> tuple[Settings, list[SettingError]]:
    """Settings from AstrBot's config.

    Args:
        raw: Values by name; missing ones get their default, unknown ones are ignored.

    Returns:
        The settings, and what was wrong; a wrong value is replaced by the default, and of
        words only the wrong ones are left out.
    """
    values: dict[str, Any] = {}
    problems: list[SettingError] = []
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
