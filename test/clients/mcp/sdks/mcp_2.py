"""PyPI mcp 2.x, both eras. `serve PORT FILE` or `call URL MARK`; test/clients/README.md says what they do."""

import json
import sys
from typing import Annotated

import anyio
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ElicitResult
from pydantic import BaseModel

from checks import check_all, note


class Who(BaseModel):
    name: str


def who() -> Elicit[Who]:
    return Elicit("Who are you?", Who)


def serve(port, cancelled):
    server = MCPServer("mcp-2", log_level="ERROR")

    @server.tool()
    def echo(text: str) -> str:
        return f"echo: {text}"

    @server.tool()
    def fail() -> str:
        raise ToolError("it failed")

    @server.tool()
    async def count(to: int, ctx: Context) -> str:
        for step in range(1, to + 1):
            await ctx.report_progress(step, to)
        return "counted"

    @server.tool()
    async def ask(answer: Annotated[Who, Resolve(who)]) -> str:
        return f"hello {answer.name}"

    @server.tool()
    async def slow(mark: str) -> str:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            note(cancelled, mark)
            raise
        return "slept"

    server.run("streamable-http", host="127.0.0.1", port=port)


async def call(url, mark):
    async def answer(context, params):
        return ElicitResult(action="accept", content={"name": "Anna"})

    async with Client(url, elicitation_callback=answer) as client:
        print(json.dumps({"version": client.protocol_version}), flush=True)

        async def names():
            return [tool.name for tool in (await client.list_tools()).tools]

        async def call_tool(name, arguments, heard=None):
            return await client.call_tool(name, arguments, progress_callback=heard)

        await check_all(mark, names, call_tool, lambda result: result.is_error)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), sys.argv[3])
else:
    anyio.run(call, sys.argv[2], sys.argv[3])
