"""Files and batches by the SDKs of three vendors, against the gateway that WEIR_URL names. Exits 1 if a promise does not hold."""

import io
import json
import os
import sys
import time
import urllib.request

import anthropic
import openai
from google import genai
from google.genai import types

URL, KEY, OTHER = os.environ["WEIR_URL"], os.environ["WEIR_KEY"], os.environ["WEIR_OTHER_KEY"]
MODEL = "mock/echo"
SLOW = "mock/slow"
openai_client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
anthropic_client = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
google_client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))
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


def until(look, ended, seconds=60):
    for _ in range(seconds * 10):
        seen = look()
        if ended(seen):
            return seen
        time.sleep(0.1)
    raise TimeoutError(f"it does not end: {seen}")


def lines_of(count, url="/v1/chat/completions", model=MODEL):
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
    lines = [{"custom_id": f"l{at}", "method": "POST", "url": url, "body": body} for at in range(count)]
    return "\n".join(json.dumps(line) for line in lines).encode()


def openai_batch(count, **given):
    file = openai_client.files.create(file=("in.jsonl", lines_of(count, **given)), purpose="batch")
    return openai_client.batches.create(
        input_file_id=file.id, endpoint=given.get("url", "/v1/chat/completions"), completion_window="24h"
    )


def openai_ended(made):
    ends = ("completed", "failed", "cancelled", "expired")
    return until(lambda: openai_client.batches.retrieve(made.id), lambda batch: batch.status in ends)


def status_of(run):
    try:
        run()
        return 200
    except openai.APIStatusError as error:
        return error.status_code
    except anthropic.APIStatusError as error:
        return error.status_code
    except genai.errors.APIError as error:
        return error.code


def openai_files():
    data = b"some text\n" * 1000
    made = openai_client.files.create(file=("a.txt", data), purpose="user_data")
    listed = [file.id for file in openai_client.files.list(purpose="user_data")]
    same = openai_client.files.content(made.id).read() == data
    gone = openai_client.files.delete(made.id).deleted
    after = status_of(lambda: openai_client.files.retrieve(made.id))
    return same and gone and made.id in listed and after == 404, (made.bytes, after)


def openai_parts():
    data = os.urandom(9 * 1024 * 1024)
    done = openai_client.uploads.upload_file_chunked(
        file=data, filename="big.bin", bytes=len(data), mime_type="application/octet-stream",
        purpose="user_data", part_size=2 * 1024 * 1024,
    )
    back = openai_client.files.content(done.file.id).read()
    return done.status == "completed" and back == data, f"{len(back)} bytes in 5 parts"


def openai_cancelled_upload():
    upload = openai_client.uploads.create(bytes=10, filename="a.bin", mime_type="text/plain", purpose="user_data")
    openai_client.uploads.parts.create(upload.id, data=io.BytesIO(b"01234"))
    status = openai_client.uploads.cancel(upload.id).status
    late = status_of(lambda: openai_client.uploads.parts.create(upload.id, data=io.BytesIO(b"56789")))
    return status == "cancelled" and 400 <= late < 500, (status, late)


def openai_batches():
    batch = openai_ended(openai_batch(20))
    text = openai_client.files.content(batch.output_file_id).text
    results = [json.loads(line) for line in text.splitlines()]
    said = {line["response"]["body"]["choices"][0]["message"]["content"] for line in results}
    counts = batch.request_counts
    holds = batch.status == "completed" and (counts.total, counts.completed, counts.failed) == (20, 20, 0)
    return holds and [line["custom_id"] for line in results] == [f"l{at}" for at in range(20)] and said == {"hello"}, (
        batch.status, len(results), said)


def openai_listed():
    ids = [batch.id for batch in openai_client.batches.list(limit=1)]
    return len(ids) == len(set(ids)) and len(ids) >= 1, f"{len(ids)} in pages of 1"


def openai_cancelled():
    made = openai_batch(400, model=SLOW)
    until(lambda: openai_client.batches.retrieve(made.id), lambda batch: batch.request_counts.completed > 0)
    openai_client.batches.cancel(made.id)
    batch = openai_ended(made)
    counts = batch.request_counts
    holds = batch.status == "cancelled" and counts.completed > 0 and counts.failed > 0
    return holds and counts.completed + counts.failed == counts.total == 400, (
        batch.status, counts.completed, counts.failed)


def openai_faults():
    wrong = b'{"custom_id": "a"}\nnot json\n'
    file = openai_client.files.create(file=("in.jsonl", wrong), purpose="batch")
    made = openai_client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    batch = openai_ended(made)
    return batch.status == "failed" and {one.line for one in batch.errors.data} == {1, 2}, (
        batch.status, [(one.line, one.code) for one in batch.errors.data])


def openai_responses():
    body = {"model": MODEL, "input": "hello"}
    line = json.dumps({"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": body})
    file = openai_client.files.create(file=("in.jsonl", line.encode()), purpose="batch")
    made = openai_client.batches.create(
        input_file_id=file.id, endpoint="/v1/responses", completion_window="24h")
    batch = openai_ended(made)
    result = json.loads(openai_client.files.content(batch.output_file_id).text)
    said = result["response"]["body"]["output"][-1]["content"][0]["text"]
    return said == "hello", said


def openai_embeddings():
    line = {"custom_id": "a", "method": "POST", "url": "/v1/embeddings", "body": {"model": "mock/embed", "input": "a"}}
    file = openai_client.files.create(file=("in.jsonl", json.dumps(line).encode()), purpose="batch")
    made = openai_client.batches.create(
        input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h")
    batch = openai_ended(made)
    result = json.loads(openai_client.files.content(batch.output_file_id).text)
    return len(result["response"]["body"]["data"][0]["embedding"]) > 0, batch.status


def anthropic_files():
    made = anthropic_client.beta.files.upload(file=("a.txt", b"some text", "text/plain"))
    listed = [file.id for file in anthropic_client.beta.files.list()]
    same = anthropic_client.beta.files.download(made.id).read() == b"some text"
    known = anthropic_client.beta.files.retrieve_metadata(made.id).filename
    anthropic_client.beta.files.delete(made.id)
    after = status_of(lambda: anthropic_client.beta.files.retrieve_metadata(made.id))
    return same and made.id in listed and known == "a.txt" and after == 404, (made.size_bytes, after)


def anthropic_batch(count, model=MODEL):
    params = {"model": model, "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]}
    return anthropic_client.messages.batches.create(
        requests=[{"custom_id": f"l{at}", "params": params} for at in range(count)])


def anthropic_ended(made):
    return until(lambda: anthropic_client.messages.batches.retrieve(made.id),
                 lambda batch: batch.processing_status == "ended")


def anthropic_batches():
    batch = anthropic_ended(anthropic_batch(20))
    results = list(anthropic_client.messages.batches.results(batch.id))
    said = {one.result.message.content[0].text for one in results}
    return batch.request_counts.succeeded == 20 and said == {"hello"}, (batch.request_counts.succeeded, said)


def anthropic_cancelled():
    made = anthropic_batch(400, SLOW)
    # As with Anthropic, only an ended batch counts what succeeded.
    own = made.id.replace("msgbatch_", "batch_")
    until(lambda: openai_client.batches.retrieve(own), lambda batch: batch.request_counts.completed > 0)
    anthropic_client.messages.batches.cancel(made.id)
    batch = anthropic_ended(made)
    kinds = [one.result.type for one in anthropic_client.messages.batches.results(batch.id)]
    counts = {kind: kinds.count(kind) for kind in set(kinds)}
    holds = len(kinds) == 400 and counts["succeeded"] > 0
    return holds and counts["canceled"] == batch.request_counts.canceled > 0, counts


def anthropic_listed():
    ids = [batch.id for batch in anthropic_client.messages.batches.list(limit=2)]
    made = anthropic_client.messages.batches.delete(ids[-1])
    return len(ids) == len(set(ids)) > 2 and made.type == "message_batch_deleted", f"{len(ids)} in pages of 2"


def downloaded(name):
    """The SDK downloads no files whose source is an upload."""
    address = f"{URL}/v1beta/{name}:download?alt=media"
    with urllib.request.urlopen(urllib.request.Request(address, headers={"x-goog-api-key": KEY})) as answer:
        return answer.read()


def google_files():
    made = google_client.files.upload(
        file=io.BytesIO(b"some text"), config={"mime_type": "text/plain", "display_name": "a.txt"})
    listed = [file.name for file in google_client.files.list()]
    known = google_client.files.get(name=made.name)
    back = downloaded(made.name)
    google_client.files.delete(name=made.name)
    after = status_of(lambda: google_client.files.get(name=made.name))
    return back == b"some text" and made.name in listed and known.size_bytes == 9 and after == 404, (made.name, after)


def google_large():
    data = os.urandom(20 * 1024 * 1024)
    made = google_client.files.upload(file=io.BytesIO(data), config={"mime_type": "application/octet-stream"})
    back = downloaded(made.name)
    return back == data, f"{len(back)} bytes"


GOOGLE_ENDS = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")


def google_ended(made):
    return until(lambda: google_client.batches.get(name=made.name), lambda job: job.state.name in GOOGLE_ENDS)


def google_inline(count, model=MODEL):
    request = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    return google_client.batches.create(model=model, src=[request] * count, config={"display_name": "mine"})


def google_batches():
    job = google_ended(google_inline(20))
    said = {one.response.text for one in job.dest.inlined_responses}
    return job.state.name == "JOB_STATE_SUCCEEDED" and len(job.dest.inlined_responses) == 20 and said == {"hello"}, (
        job.state.name, job.display_name, said)


def google_from_file():
    request = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    text = "\n".join(json.dumps({"key": f"k{at}", "request": request}) for at in range(5))
    file = google_client.files.upload(
        file=io.BytesIO(text.encode()), config={"mime_type": "application/jsonl", "display_name": "in"})
    job = google_ended(google_client.batches.create(model=MODEL, src=file.name))
    # A batch of a file has a file of results.
    results = google_client.files.download(file=job.dest.file_name).decode()
    keys = [json.loads(line)["key"] for line in results.splitlines()]
    return keys == [f"k{at}" for at in range(5)], (job.state.name, keys)


def google_cancelled():
    made = google_inline(400, SLOW)
    google_client.batches.cancel(name=made.name)
    job = google_ended(made)
    return job.state.name == "JOB_STATE_CANCELLED", job.state.name


def google_listed():
    names = [job.name for job in google_client.batches.list(config={"page_size": 2})]
    google_client.batches.delete(name=names[0])
    after = status_of(lambda: google_client.batches.get(name=names[0]))
    return len(names) == len(set(names)) > 2 and after == 404, (len(names), after)


def across():
    made = anthropic_ended(anthropic_batch(3))
    own = made.id.removeprefix("msgbatch_")
    of_openai = openai_client.batches.retrieve(f"batch_{own}")
    text = openai_client.files.content(of_openai.output_file_id).text
    # Who downloads the file gets the answers in the format of its own client.
    bodies = [json.loads(line)["response"]["body"] for line in text.splitlines()]
    said = {body["choices"][0]["message"]["content"] for body in bodies}
    of_google = google_client.batches.get(name=f"batches/{own}")
    holds = said == {"hello"} and of_openai.endpoint == "/v1/messages"
    return holds and of_google.state.name == "JOB_STATE_SUCCEEDED", (said, of_openai.endpoint, of_google.state.name)


def strangers():
    mine = openai_batch(1)
    openai_ended(mine)
    other = openai.OpenAI(base_url=f"{URL}/v1", api_key=OTHER, max_retries=0)
    seen = [
        status_of(lambda: other.batches.retrieve(mine.id)),
        status_of(lambda: other.batches.cancel(mine.id)),
        status_of(lambda: other.files.content(mine.input_file_id)),
        status_of(lambda: other.files.delete(mine.input_file_id)),
        len(other.batches.list().data), len(other.files.list().data),
    ]
    return seen == [404, 404, 404, 404, 0, 0], seen


STRANGER = '''
from openai import OpenAI
import json, time
client = OpenAI()
tasks = [{"custom_id": f"task-{i}", "method": "POST", "url": "/v1/chat/completions", "body": {
    "model": "mock/echo", "temperature": 0.1, "messages": [
        {"role": "system", "content": "Say it again."}, {"role": "user", "content": f"number {i}"}]}} for i in range(5)]
with open(path, "w") as file:
    for task in tasks:
        file.write(json.dumps(task) + "\\n")
batch_file = client.files.create(file=open(path, "rb"), purpose="batch")
batch_job = client.batches.create(input_file_id=batch_file.id, endpoint="/v1/chat/completions", completion_window="24h")
while client.batches.retrieve(batch_job.id).status != "completed":
    time.sleep(0.2)
batch_job = client.batches.retrieve(batch_job.id)
open(path, "wb").write(client.files.content(batch_job.output_file_id).content)
results = [json.loads(line.strip()) for line in open(path)]
said = [result["response"]["body"]["choices"][0]["message"]["content"] for result in results]
'''


def stranger():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        scope = {"path": f"{folder}/tasks.jsonl"}
        exec(STRANGER, scope)
    return scope["said"] == [f"number {at}" for at in range(5)], scope["said"]


for promise, run in {
    "openai: a file is sent, listed, read and deleted": openai_files,
    "openai: a file in parts is whole": openai_parts,
    "openai: an upload that is cancelled takes no parts": openai_cancelled_upload,
    "openai: a batch runs, and its results are in order": openai_batches,
    "openai: batches are listed in pages": openai_listed,
    "openai: a batch is cancelled, and each line has an end": openai_cancelled,
    "openai: faults of the input name their lines": openai_faults,
    "openai: lines of /v1/responses": openai_responses,
    "openai: lines of /v1/embeddings": openai_embeddings,
    "anthropic: a file is sent, listed, read and deleted": anthropic_files,
    "anthropic: a batch runs, and its results are read": anthropic_batches,
    "anthropic: a batch is cancelled, and each request has an end": anthropic_cancelled,
    "anthropic: batches are listed in pages, and deleted": anthropic_listed,
    "google: a file is sent, listed, read and deleted": google_files,
    "google: a file of 20 MB is whole": google_large,
    "google: a batch of a body runs": google_batches,
    "google: a batch of a file runs, with its keys": google_from_file,
    "google: a batch is cancelled": google_cancelled,
    "google: batches are listed in pages, and deleted": google_listed,
    "a batch of Anthropic's client is read by the others": across,
    "another key sees nothing of it": strangers,
    "a stranger's script with two changed lines": stranger,
}.items():
    check(promise, run)
sys.exit(failed > 0)
