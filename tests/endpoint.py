"""The language model that the environment names, for what can use a real one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server and one of its models."""

    key: str = field(repr=False)
    base_url: str
    model: str


def endpoint(env: Mapping[str, str]) -> Endpoint | None:
    """The one that the environment names; ``None`` unless it names all of it."""
    return None if missing(env) else Endpoint(*(env[name].strip() for name in VARIABLES))


def missing(env: Mapping[str, str]) -> list[str]:
    """The variables that would have to be set."""
    return [name for name in VARIABLES if not env.get(name, "").strip()]
