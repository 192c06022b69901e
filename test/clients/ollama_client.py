"""Ollama's SDK for Python against the gateway that OLLAMA_HOST names. Exits 1 if a promise does not hold."""

import asyncio
import base64
import sys

import ollama

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HELLO = [{"role": "user", "content": "hello"}]
failed = 0


def check(promise, run):
    """run returns whether the promise holds, and the figure that shows it."""
    global failed
    try:
        holds, figure = run()
    except Exception as thrown:  # the figure of a failed check
        holds, figure = False, f"{type(thrown).__name__}: {thrown}"
    failed += not holds
    print(f"{'ok  ' if holds else 'FAIL'}  {promise}: {figure}", flush=True)


def weather(city: str) -> str:
    """The weather of a city.

    Args:
      city: The city.
    """
    return f"Rain in {city}."


def whole():
    answer = ollama.chat(model="mock/echo", messages=HELLO)
    return answer.message.content == "hello" and answer.done and answer.eval_count > 0, answer.message.content


def streamed():
    records = list(ollama.chat(model="mock/chat", messages=HELLO, stream=True))
    done = [record.done for record in records]
    text = "".join(record.message.content or "" for record in records)
    return done == [False] * (len(done) - 1) + [True] and "hello" in text, f"{len(records)} records"


def thinking():
    records = list(ollama.chat(model="mock/reason", messages=HELLO, think=True, stream=True))
    thought = "".join(record.message.thinking or "" for record in records)
    return len(thought) > 0, f"{len(thought)} characters"


def tools():
    messages = [{"role": "user", "content": 'weather {"city": "Oslo"}'}]
    answer = ollama.chat(model="mock/tools", messages=messages, tools=[weather])
    [call] = answer.message.tool_calls
    result = weather(**call.function.arguments)
    messages += [answer.message, {"role": "tool", "tool_name": call.function.name, "content": result}]
    last = ollama.chat(model="mock/tools", messages=messages, tools=[weather])
    return call.function.name == "weather" and bool(last.message.content), last.message.content


def structured():
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    answer = ollama.chat(model="mock/chat", messages=[{**HELLO[0], "images": [PNG]}], format=schema)
    return answer.done_reason == "stop", answer.message.content


def generated():
    whole = ollama.generate(model="mock/echo", prompt="hello").response
    parts = [record.response for record in ollama.generate(model="mock/echo", prompt="hello", stream=True)]
    return whole == "hello" == "".join(parts), whole


def loaded():
    reasons = [
        ollama.generate(model="mock/echo").done_reason,
        ollama.generate(model="mock/echo", keep_alive=0).done_reason,
        ollama.chat(model="mock/echo:latest").done_reason,
    ]
    return reasons == ["load", "unload", "load"], reasons


def embedded():
    answer = ollama.embed(model="mock/embed", input=["a", "b"], dimensions=8)
    lengths = [len(vector) for vector in answer.embeddings]
    return lengths == [8, 8] and len(ollama.embeddings(model="mock/embed", prompt="a").embedding) > 8, lengths


def listed():
    names = [model.model for model in ollama.list().models]
    shown = ollama.show("mock/chat")
    return "mock/chat" in names and "tools" in shown.capabilities, f"{len(names)} models, {shown.capabilities}"


def running():
    return list(ollama.ps().models) == [], "none"


def refused():
    seen = []
    for run in (
        lambda: ollama.pull("qwen3"),
        lambda: ollama.delete("qwen3"),
        lambda: ollama.chat(model="none/such", messages=HELLO),
        lambda: ollama.chat(model="mock/error-429", messages=HELLO),
    ):
        try:
            run()
        except ollama.ResponseError as thrown:
            seen.append(thrown.status_code)
    return seen == [404, 404, 404, 429], seen


def failing(model):
    def run():
        records = []
        try:
            for record in ollama.chat(model=model, messages=HELLO, stream=True):
                records.append(record)
        except ollama.ResponseError as thrown:
            return len(records) > 0 and not any(record.done for record in records), str(thrown)
        return False, f"{len(records)} records and no error"

    return run


def asynchronous():
    async def run():
        parts = [part async for part in await ollama.AsyncClient().chat("mock/echo", HELLO, stream=True)]
        return "".join(part.message.content for part in parts)

    text = asyncio.run(run())
    return text == "hello", text


check("a chat is answered", whole)
check("a stream has one record that is done, the last one", streamed)
check("reasoning comes apart from the text", thinking)
check("a tool is called and its result answered", tools)
check("a schema and an image are taken", structured)
check("a prompt is answered, whole and streamed", generated)
check("a request without content loads and unloads nothing", loaded)
check("texts become vectors", embedded)
check("models are listed and shown", listed)
check("no model is in memory", running)
check("refusals have their status", refused)
for name in ("cut-after-3", "overloaded-mid-stream", "garbled-after-3"):
    check(f"a stream that fails inside raises an error ({name})", failing(f"mock/{name}"))
check("a slow stream survives heartbeats", lambda: (len(list(ollama.chat("mock/pace-300", HELLO, stream=True))) > 3, "whole"))
check("the asynchronous client reads a stream", asynchronous)
sys.exit(1 if failed else 0)
