"""Does the job with a Python library: drive.py CLIENT URL MODEL TASK. Prints what the model says last."""

import asyncio
import subprocess
import sys

KEY = "none-needed"


def read_file(path: str) -> str:
    """Reads a file."""
    with open(path) as file:
        return file.read()


def write_file(path: str, content: str) -> str:
    """Writes a file."""
    with open(path, "w") as file:
        file.write(content)
    return "written"


def run_command(command: str) -> str:
    """Runs a command."""
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout


TOOLS = [read_file, write_file, run_command]


def agents_sdk(url, model, task):
    from agents import Agent, ModelSettings, Runner, function_tool, set_default_openai_client, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    set_default_openai_client(AsyncOpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0), use_for_tracing=False)
    settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    agent = Agent(name="Worker", model=model, tools=[function_tool(tool) for tool in TOOLS], model_settings=settings)

    async def run():
        result = Runner.run_streamed(agent, task)
        async for _ in result.stream_events():
            pass
        return result.final_output

    print(asyncio.run(run()))


def langchain(url, model, task):
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(
        base_url=url + "/v1",
        api_key=KEY,
        model=model,
        max_retries=0,
        use_responses_api=True,
        output_version="responses/v1",
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "medium", "summary": "auto"},
    ).bind_tools(TOOLS)
    messages = [("user", task)]
    while True:
        answer = None
        for chunk in chat.stream(messages):
            answer = chunk if answer is None else answer + chunk
        messages.append(answer)
        if not answer.tool_calls:
            break
        for call in answer.tool_calls:
            tool = next(tool for tool in TOOLS if tool.__name__ == call["name"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": tool(**call["args"])})
    print(answer.text if isinstance(answer.text, str) else answer.text())


CLIENTS = [agents_sdk, langchain]

if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    next(client for client in CLIENTS if client.__name__ == name)(*rest)
