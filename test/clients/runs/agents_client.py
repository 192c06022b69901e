"""OpenAI's Agents SDK does a task with the tools of weir: TASK MODEL URL. It prints the last message."""

import asyncio
import sys

from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

task, model, url = sys.argv[1:4]
set_tracing_disabled(True)


async def main() -> None:
    async with MCPServerStreamableHttp(params={"url": url}, client_session_timeout_seconds=60) as weir:
        agent = Agent(
            name="worker",
            instructions="Use the tools.",
            model=OpenAIResponsesModel(model=model, openai_client=AsyncOpenAI()),
            mcp_servers=[weir],
        )
        result = await Runner.run(agent, task, max_turns=30)
        print(result.final_output)


asyncio.run(main())
