"""Pydantic AI does a task with the tools of weir: TASK MODEL URL. It prints the last message."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel

task, model, url = sys.argv[1:4]


async def main() -> None:
    agent = Agent(OpenAIChatModel(model), instructions="Use the tools.", toolsets=[MCPToolset(url)])
    async with agent:
        print((await agent.run(task)).output)


asyncio.run(main())
