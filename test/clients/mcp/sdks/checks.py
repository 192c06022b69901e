"""The six checks of a client, for both libraries in Python. Prints a line of JSON for each."""

import json
import time

import anyio


def now():
    return int(time.time() * 1000)


def note(file, mark):
    """The server noticed that a call was cancelled."""
    with open(file, "a") as lines:
        lines.write(f"{mark} {now()}\n")


async def check(name, run):
    try:
        saw = await run()
    except Exception as error:
        saw = repr(error)
    print(json.dumps({"check": name, "ok": saw is True, **({} if saw is True else {"saw": str(saw)})}), flush=True)


def text_of(result):
    return result.content[0].text if result.content else repr(result)


async def check_all(mark, names, call, is_error, cancelled=None):
    async def list_tools():
        found = ",".join(sorted(await names()))
        return found == "ask,count,echo,fail,slow" or found

    async def echo():
        said = text_of(await call("echo", {"text": f"ü {mark}"}))
        return said == f"echo: ü {mark}" or said

    async def progress():
        seen = []

        async def heard(progress, total, message):
            seen.append(f"{progress:g}/{total:g}")

        said = text_of(await call("count", {"to": 3}, heard))
        saw = f"{','.join(seen)} {said}"
        return saw == "1/3,2/3,3/3 counted" or saw

    async def elicitation():
        said = text_of(await call("ask", {}))
        return said == "hello Anna" or said

    async def cancel():
        said = None
        with anyio.move_on_after(0.5) as scope:
            said = text_of(await call("slow", {"mark": mark}))
        if cancelled:
            await cancelled()
        return scope.cancelled_caught or f"ended before it was cancelled: {said}"

    async def error():
        result = await call("fail", {})
        return (is_error(result) and "it failed" in text_of(result)) or repr(result)

    await check("list", list_tools)
    await check("call", echo)
    await check("progress", progress)
    await check("elicitation", elicitation)
    await check("cancel", cancel)
    # The server must notice that while the client is still there.
    print(json.dumps({"cancelled": now()}), flush=True)
    await anyio.sleep(1.2)
    await check("error", error)
