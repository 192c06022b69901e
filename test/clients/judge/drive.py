"""Makes one streamed call with a Python library: drive.py CLIENT URL MODEL. Prints the text; raises what the library raises."""

import sys

TEXT = "Say hello."
MESSAGES = [{"role": "user", "content": TEXT}]
KEY = "none-needed"


def openai(url, model):
    from openai import OpenAI

    client = OpenAI(base_url=url + "/v1", api_key=KEY)
    for chunk in client.chat.completions.create(model=model, messages=MESSAGES, stream=True):
        yield chunk.choices[0].delta.content if chunk.choices else None


def anthropic(url, model):
    from anthropic import Anthropic

    client = Anthropic(base_url=url, api_key=KEY)
    with client.messages.stream(model=model, max_tokens=99, messages=MESSAGES) as stream:
        yield from stream.text_stream
        stream.get_final_message()


def langchain_openai(url, model):
    from langchain_openai import ChatOpenAI

    for chunk in ChatOpenAI(base_url=url + "/v1", api_key=KEY, model=model).stream(TEXT):
        yield chunk.text if isinstance(chunk.text, str) else chunk.text()


def langchain_anthropic(url, model):
    from langchain_anthropic import ChatAnthropic

    for chunk in ChatAnthropic(base_url=url, api_key=KEY, model=model, max_tokens=99).stream(TEXT):
        yield chunk.text if isinstance(chunk.text, str) else chunk.text()


def litellm_openai(url, model):
    yield from litellm("openai/" + model, url + "/v1")


def litellm_anthropic(url, model):
    yield from litellm("anthropic/" + model, url)


def litellm(model, base):
    from litellm import completion

    answer = completion(model=model, api_base=base, api_key=KEY, messages=MESSAGES, max_tokens=99, stream=True)
    for chunk in answer:
        yield chunk.choices[0].delta.content if chunk.choices else None


CLIENTS = [openai, anthropic, langchain_openai, langchain_anthropic, litellm_openai, litellm_anthropic]

if __name__ == "__main__":
    name, url, model = sys.argv[1:]
    drive = next(client for client in CLIENTS if client.__name__ == name)
    for text in drive(url, model):
        print(text or "", end="", flush=True)
