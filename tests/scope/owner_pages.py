"""What the web pages show their owner, who may see everything but other people's secrets."""

import re
from collections import deque
from html import unescape
from urllib.parse import urlencode

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.transfers import ImportEnvironment
from graph_memory.model import Turn
from graph_memory.service import MemoryService

from ..webui.conftest import application, entered
from .histories import CHATS, PEOPLE, WHO
from .surfaces import Given
from .trial import Ask

MOST = 60
"""Pages of one memory that are opened."""
_LINK = re.compile(
    r'href="((?:/memories/|/records/|/messages/|/node\?|/persona\?|/changes/)[^"#]+)"'
)
_CHANCE = re.compile(
    r'"csrf(?:-token)?" (?:value|content)="[^"]*"'
    r'|(?:"|&#34;)(?:run|recalls)(?:"|&#34;): (?:"|&#34;)\w+'
    r'|<div class="timing">.*?</div>|(?:\b|%2F)[a-z]{1,3}(?::|%3A)[0-9a-f]{16}',
    re.DOTALL,
)
"""What is another one whenever a page is opened; and hashes of words, as which the log of changes
keeps what is gone."""
_PIECES = re.compile("[<{]")


class OwnerPages:
    """The pages of one memory, from before anything is said."""

    def __init__(self, memory: MemoryService) -> None:
        self._memory = memory
        self._app = application(memory)

    async def read(self, ask: Ask) -> Given:
        """Every list, what it links to, and what is shown of a question and of a file."""
        await self._memory.recall.settle()
        await self._memory.recall.remind(ask.caller.asker, ask.text)
        where = {"group": ask.chat.circle} if ask.chat.is_group else {}
        as_them = urlencode({"user": ask.user, "persona": ask.chat.persona, "q": ask.text} | where)
        lists = [
            "/memories", "/memories?sort=said", "/records", "/people", f"/people?q={WHO[0]}",
            "/changes", "/why", "/api/v1/events/now", f"/viewas?{as_them}",
            f"/data/import?{urlencode({'name': 'chat.jsonl'})}", "/graph", "/api/v1/graph",
        ]  # fmt: skip
        given: Given = {"/memory import": await self._previewed()}
        async with entered(self._app) as browser:
            waiting, known = deque(lists), set(lists)
            while waiting and len(given) < MOST:
                address = waiting.popleft()
                answer = await browser.get(address)
                place = f"{len(given)} {_CHANCE.sub('', address)}"
                text = _CHANCE.sub("", answer.text)
                in_order = "graph" not in address  # which has its nodes in that of their hashes
                given[place] = answer.status_code, text if in_order else sorted(_PIECES.split(text))
                linked = (unescape(link) for link in _LINK.findall(answer.text))
                new = [link for link in dict.fromkeys(linked) if link not in known]
                known.update(new)
                waiting += new
        return given

    async def _previewed(self) -> str:
        """What the owner is shown in a chat of the file that was imported."""
        owner = Turn(CHATS[0], PEOPLE[0], WHO[0], is_admin=True)
        commands = Commands(self._memory)
        return await commands.transfers.import_(owner, "chat.jsonl", ImportEnvironment())
