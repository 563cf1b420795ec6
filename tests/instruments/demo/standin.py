"""The offline stand-in: an OpenAI-compatible server that reads out what it was given.

It makes visible what a real model would only make use of: the memories that the plugin
put into the request.
"""

import re

from graph_memory.recall.render import OPEN
from graph_memory.text import is_chinese
from tests.e2e.extractor import extract, is_extraction
from tests.e2e.harness import ChatCall, FakeOpenAI

LABEL = {"zh": "【离线替身】", "en": "[offline stand-in] "}
SHOWN = 8
"""Lines of memory that are read out."""
TITLES = "conversation title generator"
"""Part of AstrBot's request for the title of a conversation."""


def stand_in() -> FakeOpenAI:
    server = FakeOpenAI(chunk_size=24)
    server.when(is_extraction, extract)
    server.when(lambda call: TITLES in call.system, title)
    server.when(lambda _call: True, chat)
    return server


def title(call: ChatCall) -> str:
    """Name a conversation after its first words."""
    query = re.search(r"<user_query>\n(.*?)\n</user_query>", call.last_user, re.DOTALL)
    return query.group(1)[:16] if query else "<None>"


def chat(call: ChatCall) -> str:
    """Answer a message with the memories that came with it."""
    prompt, *parts = call.last_user_parts or [""]
    memories = [line for part in parts for line in memory_lines(part)][:SHOWN]
    language = "zh" if is_chinese(prompt) else "en"
    if language == "zh":
        head = "记忆插件为这句话想起了：" if memories else "这句话没有让记忆插件想起什么。"
        tail = "" if memories else "\n（我不是大模型，不会思考，只会念出收到的记忆。）"
    else:
        head = "For this, the memory plugin recalled:" if memories else "Nothing was recalled."
        tail = "" if memories else "\n(I am no language model; I only read out memories.)"
    return LABEL[language] + head + "".join(f"\n· {line}" for line in memories) + tail


def memory_lines(part: str) -> list[str]:
    """The lines of an injected block of memory; none if the part is something else."""
    if OPEN not in part:
        return []
    told = (line for line in part.splitlines() if line.startswith(("- ", "·", "〔")))
    return [line.lstrip("-· ") for line in told]
