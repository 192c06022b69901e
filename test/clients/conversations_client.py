"""openai-agents keeps its session in a conversation of weir: each line names a promise and the figure seen."""
import asyncio
import sys

from agents import Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner
from openai import AsyncOpenAI

failed = 0


def check(promise: str, holds: bool, seen: object) -> None:
    global failed
    failed += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {promise}: {seen}")


async def main() -> None:
    session = OpenAIConversationsSession()
    agent = Agent(name="recall", model=OpenAIResponsesModel("mock/recall", AsyncOpenAI()))
    await Runner.run(agent, "My name is Ada.", session=session)
    second = await Runner.run(agent, "My name?", session=session)
    check("the second turn has the first one", "Ada" in str(second.final_output), "Ada")
    streamed = Runner.run_streamed(agent, "My name again?", session=session)
    async for _ in streamed.stream_events():
        pass
    check("a streamed turn has the others", "Ada" in str(streamed.final_output), "Ada")
    items = await session.get_items()
    check("each item is kept once", len(items) == 6, len(items))
    newest = await session.get_items(limit=2)
    check("a limit gives the newest ones, in order", newest == items[-2:], len(newest))
    popped = await session.pop_item()
    left = await session.get_items()
    check("an item is taken back", popped == items[-1] and left == items[:-1], len(left))
    await session.clear_session()
    check("a cleared session is empty", await session.get_items() == [], "empty")
    # With the conversation at weir alone, the agent sends only what is new.
    await Runner.run(agent, "My name is Bo.", conversation_id=await session._get_session_id())
    again = await Runner.run(agent, "My name?", conversation_id=await session._get_session_id())
    check("a conversation id continues it", "Bo" in str(again.final_output), "Bo")


asyncio.run(main())
sys.exit(1 if failed else 0)
