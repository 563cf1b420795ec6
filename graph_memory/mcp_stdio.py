"""MCP over stdio: hands a program's lines to the memory page and its answers back.

For programs that start their servers. It needs nothing but Python::

    GRAPH_MEMORY_KEY=... python mcp_stdio.py http://127.0.0.1:6190/mcp
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from http.client import HTTPException

KEY = "GRAPH_MEMORY_KEY"
"""Variable of the environment that holds the memory page's key."""
TIMEOUT = 60.0
INTERNAL = -32603
"""JSON-RPC's number of an error inside the server."""


def forward(url: str, key: str, line: bytes) -> bytes:
    """What the memory answers to one message; nothing to a notification."""
    headers = {
        # Headers are sent in Latin-1, by which a key in Chinese goes as UTF-8.
        "Authorization": f"Bearer {key.strip().encode().decode('latin-1')}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    try:
        request = urllib.request.Request(url, line, headers)  # noqa: S310 - the user's own address
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            told = bytes(response.read()).strip()
        if response.headers.get_content_type() != "text/html":
            return told
        reason = "MCP is off there, see the setting mcp_asker"  # it led on to the login
    except (OSError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "code", "not reached"))
        reason += f", {KEY} is not its key" * (reason == "401")
    try:
        id = json.loads(line)["id"]
    except (ValueError, KeyError, TypeError):  # a notification, or no message at all
        return b""
    failed = {"code": INTERNAL, "message": f"the memory page: {reason}"}
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": failed}).encode()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not arguments[0].startswith(("http://", "https://")):
        sys.stderr.write(f"usage: {KEY}=... mcp_stdio.py http://127.0.0.1:6190/mcp\n")
        return 2
    for line in sys.stdin.buffer:
        if line.strip() and (told := forward(arguments[0], os.environ.get(KEY, ""), line)):
            sys.stdout.buffer.write(told + b"\n")
            sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
