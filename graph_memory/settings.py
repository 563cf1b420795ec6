"""All settings, in one declarative list.

``_conf_schema.json``, the i18n files and the README are tested against
:data:`SETTINGS`. A wrong value never stops the bot: :func:`read` reports it and uses
the default.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import SettingError
from .scope import Policy, Sharing

MIN_KEY = 8
"""Characters a web UI key has at least."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in use; see ``_conf_schema.json`` for what they mean to a user.

    Times: ``buffer_timeout`` seconds, ``prune_interval`` hours, ``recall_deadline`` ms.
    """

    memory_sharing_mode: str = "layered"
    cross_persona_search: bool = False
    audience: str = "participants"
    llm_provider_id: str = ""
    enable_group_learning: bool = True
    buffer_size_private: int = 12
    buffer_size_group: int = 40
    buffer_timeout: int = 300
    embedding_provider_id: str = ""
    local_embedding_model: str = "bundled"
    retrieval_top_k: int = 8
    injection_token_budget: int = 600
    recall_deadline: int = 800
    enable_query_rewriting: bool = False
    enable_function_calling: bool = True
    prune_interval: int = 24
    time_decay_rate: float = 1.0
    min_importance_threshold: float = 0.25
    webui_port: int = 6190
    webui_key: str = ""
    language: str = "zh"

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
        choices: Accepted words.
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
                raise SettingError(self.name, f"{value!r} is not text")
            value = value.strip()
            if self.choices and value not in self.choices:
                raise SettingError(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
            if self.name == "webui_key" and value and len(value) < MIN_KEY:
                raise SettingError(self.name, f"shorter than {MIN_KEY} characters")
            return value
        return self._number(value)

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
            raise SettingError(
                self.name, f"{value!r} is not between {self.low:g} and {self.high:g}{off}"
            )
        return number


SETTINGS: tuple[Setting, ...] = (
    Setting("memory_sharing_mode", str, choices=("layered", "isolated", "shared")),
    Setting("cross_persona_search", bool),
    Setting("audience", str, choices=("participants", "off")),
    Setting("llm_provider_id", str),
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
    Setting("prune_interval", int, 1, 8_760, zero=True),
    Setting("time_decay_rate", float, 0, 100),
    Setting("min_importance_threshold", float, 0, 0.9),
    Setting("webui_port", int, 1_024, 65_535, zero=True),
    Setting("webui_key", str),
    Setting("language", str, choices=("zh", "en")),
)


def read(raw: Mapping[str, Any]) -> tuple[Settings, list[SettingError]]:
    """Settings from AstrBot's config.

    Args:
        raw: Values by name; missing ones get their default, unknown ones are ignored.

    Returns:
        The settings, and what was wrong; a wrong value is replaced by the default.
    """
    values: dict[str, Any] = {}
    problems: list[SettingError] = []
    for setting in SETTINGS:
        if setting.name not in raw:
            continue
        try:
            values[setting.name] = setting.check(raw[setting.name])
        except SettingError as error:
            problems.append(error)
    return dataclasses.replace(Settings(), **values), problems
