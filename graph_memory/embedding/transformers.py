"""Any model of sentence-transformers, by its name or from a local folder.

Torch is gigabytes, so it has requirements of its own and is not imported before a user
chooses such a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import EmbeddingError
from .threaded import ThreadedEmbedder
from .vectors import SLICE

REQUIREMENTS = "requirements-sentence-transformers.txt"

_E5 = re.compile(r"(^|[^a-z0-9])e5([^a-z0-9]|$)")


def sentence_transformer(model: str) -> ThreadedEmbedder:
    """A model of sentence-transformers; blocks while it is loaded, or even downloaded.

    Args:
        model: Name on Hugging Face, or a folder.

    Raises:
        EmbeddingError: The package is not installed or the model cannot be loaded.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingError(
            f"the embedding model {model!r} needs sentence-transformers, which cannot be "
            f"imported ({error}): pip install -r {REQUIREMENTS}, or set the local embedding "
            "model to “bundled”"
        ) from error
    folder = Path(model).expanduser()
    try:
        loaded: Any = SentenceTransformer(str(folder) if folder.is_dir() else model)
    except Exception as error:
        reason = str(error).strip().split("\n")[0] or repr(error)
        raise EmbeddingError(f"the embedding model {model!r} cannot be loaded: {reason}") from error
    query, passages = _encoders(loaded, model)
    # One text at a time on a processor, where a batch is no faster and a query may be
    # waiting. Exclusive, because fast tokenizers refuse to be used by two threads.
    step = 1 if loaded.device.type == "cpu" else SLICE
    return ThreadedEmbedder(_name(model, folder), query, passages, step=step, exclusive=True)


def _encoders(loaded: Any, model: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """How queries and how passages are encoded.

    Models that tell the two apart name their prompts, and ``encode_query`` and
    ``encode_document`` use them. The E5 family, which is older than that, needs the same
    two words in front of its texts and finds little without.
    """
    prompts = getattr(loaded, "prompts", None) or {}
    if not any(prompts.values()) and _E5.search(model.lower()):
        prefixed = partial(loaded.encode, show_progress_bar=False)
        return partial(prefixed, prompt="query: "), partial(prefixed, prompt="passage: ")
    query = getattr(loaded, "encode_query", loaded.encode)
    passages = getattr(loaded, "encode_document", loaded.encode)
    return partial(query, show_progress_bar=False), partial(passages, show_progress_bar=False)


def _name(model: str, folder: Path) -> str:
    """Identity of the model; that of a folder changes with the files in it."""
    if not folder.is_dir():
        return f"sentence-transformers:{model}"
    digest = blake2b(digest_size=4)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()}:{file.stat().st_size}\n".encode())
    return f"sentence-transformers:{folder.resolve().name}#{digest.hexdigest()}"
