"""PyPI mcp 1.x, revisions with sessions. `serve PORT FILE` or `call URL MARK`; test/clients/README.md says what they do."""

import sys

import anyio
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification, ElicitResult
from pydantic import BaseModel

from checks import check_all, note


class Who(BaseModel):
    name: str


def serve(port, cancelled):
    server = FastMCP("mcp-1", host="127.0.0.1", port=port, log_level="ERROR")

    @server.tool()
    def echo(text: str) -> str:
        return f"echo: {text}"

    @server.tool()
    def fail() -> str:
        raise ValueError("it failed")

    @server.tool()
    async def count(to: int, ctx: Context) -> str:
        for step in range(1, to + 1):
            await ctx.report_progress(step, to)
        return "counted"

    @server.tool()
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Who)
        return f"hello {answer.data.name}"

    @server.tool()
    async def slow(mark: str) -> str:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            note(cancelled, mark)
            raise
        return "slept"

    server.run("streamable-http")


async def call(url, mark):
    async def answer(context, params):
        return ElicitResult(action="accept", content={"name": "Anna"})

    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write, elicitation_callback=answer) as session:
            await session.initialize()

            async def names():
                return [tool.name for tool in (await session.list_tools()).tools]

            async def call_tool(name, arguments, heard=None):
                return await session.call_tool(name, arguments, progress_callback=heard)

            async def cancelled():
                # This library does not tell the server by itself.
                params = CancelledNotificationParams(requestId=session._request_id - 1)
                await session.send_notification(
                    ClientNotification(CancelledNotification(method="notifications/cancelled", params=params))
                )

            await check_all(mark, names, call_tool, lambda result: result.isError, cancelled)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), sys.argv[3])
else:
    anyio.run(call, sys.argv[2], sys.argv[3])
