"""The whole API, tried by Schemathesis from nothing but its own schema, over a real socket."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from webui import WebServer

from .conftest import application
from .hostile import besieged

KEY = "correct-horse-battery"
EXAMPLES = 4
"""Random requests of each operation and kind, beside those at the edges of its schema."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
COMMAND = (
    "-m", "schemathesis.cli", "run", "--header", f"Authorization: Bearer {KEY}",
    "--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", "7",
    "--checks", ",".join(CHECKS), "--generation-database", "none", "--no-shrink",
    "--warnings", "off", "--no-color",
)  # fmt: skip


async def test_the_api_keeps_to_its_schema(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    async with besieged(tmp_path / "memory") as memory:
        server = WebServer(application(memory, KEY))
        await server.start(0)
        try:
            address = f"http://127.0.0.1:{server.port}/api/v1/openapi.json"
            process = await asyncio.create_subprocess_exec(
                sys.executable, *COMMAND, address, cwd=tmp_path,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            told, _ = await process.communicate()
        finally:
            await server.stop()
        assert process.returncode == 0, told.decode()
        await memory.settle()
        assert (await memory.doctor()).is_well
