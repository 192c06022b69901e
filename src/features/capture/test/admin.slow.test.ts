/** Capture in a gateway of several workers: what is kept, who may see it, and that nothing is kept without it. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CapturedCall } from "../contracts.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

let books: RunningBooks;
afterEach(() => books.end());

interface Asked {
  model?: string;
  stream?: boolean;
  prompt?: string;
  headers?: Record<string, string>;
}

/** @returns the id of the call, and its answer */
async function ask({ model = "mock/echo", stream = false, prompt = "Hello", headers = {} }: Asked) {
  const response = await fetch(`${books.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: prompt }] }),
  });
  return { id: response.headers.get("x-request-id")!, text: await response.text() };
}

const YES = { "x-weir-capture": "yes" };

/** Asks the admin API, as the command line does unless another key is given. */
function admin(path: string, key = books.admin.credential, method = "GET") {
  return fetch(`${books.admin.url}/admin/v1${path}`, { method, headers: { authorization: `Bearer ${key}` } });
}

async function bodyOf(id: string): Promise<CapturedCall> {
  let response = await admin(`/calls/${id}/body`);
  await until(async () => (response = await admin(`/calls/${id}/body`)).ok, 10_000);
  expect(response.status).toBe(200);
  return (await response.json()) as CapturedCall;
}

async function isListed(id: string): Promise<boolean> {
  return until(async () => (await admin(`/calls/${id}`)).ok, 10_000);
}

test("without capture nothing of a prompt is in the state folder, and a client cannot ask for it", async () => {
  books = await startBooks({ workers: 2 });
  const { id } = await ask({ prompt: "the-canary-of-this-test", headers: YES });
  expect(await isListed(id)).toBe(true);
  const response = await admin(`/calls/${id}/body`);
  expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
    404,
    "not_captured",
  ]);
  expect(existsSync(join(books.state, "capture.db"))).toBe(false);
  for (const name of readdirSync(books.state))
    expect(readFileSync(join(books.state, name), "latin1")).not.toContain("the-canary-of-this-test");
});

test("a captured call has its bodies without credentials, and each look is in the audit log", async () => {
  books = await startBooks({ workers: 2, config: { capture: { header: true, share: 0 } } });
  const secret = "sk-proj-pastedpastedpasted0123456789";
  for (const stream of [false, true]) {
    const { id, text } = await ask({ stream, prompt: `The key is ${secret} today`, headers: YES });
    const body = await bodyOf(id);
    expect(body).toMatchObject({ id, format: "chat-completions", operation: "generate", status: 200 });
    expect(JSON.parse(body.request)).toMatchObject({ messages: [{ content: "The key is *** today" }] });
    expect(body.talk.turns[0]!.parts).toEqual([{ kind: "text", text: "The key is *** today" }]);
    expect(body.talk.answer.map(({ kind }) => kind)).toEqual(["text"]);
    expect(body.answer).not.toContain("pasted");
    expect(body.expiresAt - body.at).toBe(3 * 86_400_000);
    expect(text).toContain(stream ? "[DONE]" : "pasted");
    expect(await (await admin(`/calls/${id}`)).json()).toMatchObject({ captured: true });
    const { code, output } = books.run("logs", "--call", id, "--body");
    expect([code, output]).toEqual([0, expect.stringContaining("The key is *** today")]);
    expect(books.run("logs", "--call", id).output).toContain(`weir logs --call ${id} --body`);
    const log = await (await admin("/audit/log")).text();
    expect(log).toContain(`calls/${id}/body`);
  }
  const other = await ask({ prompt: "Hello" });
  expect(await isListed(other.id)).toBe(true);
  expect((await admin(`/calls/${other.id}/body`)).status).toBe(404);
});

test("only admin keys that may see the call see its bodies", async () => {
  const key = { name: "alice", key: "weir-test-alice-0123456789", path: "/eng" };
  books = await startBooks({ workers: 1, config: { keys: [key], capture: { keys: ["/eng"] } } });
  const headers = { authorization: `Bearer ${key.key}` };
  const { id } = await ask({ prompt: "the-canary-of-this-test", headers });
  await bodyOf(id);
  const make = (name: string, ...args: string[]) => {
    const { output } = books.run("admin", "key", "create", name, ...args, "--json");
    return (JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as { secret: string })
      .secret;
  };
  const cases: [who: string, key: string, status: number][] = [
    ["a read key", make("reader", "--read"), 403],
    ["a key for calls", key.key, 403],
    ["an admin key of another path", make("sales", "--path", "/sales"), 404],
    ["an admin key of its path", make("eng", "--path", "/eng"), 200],
    ["nobody", "nothing", 401],
  ];
  for (const [who, given, status] of cases) {
    const response = await admin(`/calls/${id}/body`, given);
    expect([who, response.status]).toEqual([who, status]);
    expect((await response.text()).includes("the-canary-of-this-test")).toBe(status === 200);
  }
});

test("a client that forbids it is not captured, and errorsOnly keeps failures only", async () => {
  books = await startBooks({ workers: 1, config: { capture: { share: 1, errorsOnly: true } } });
  const failed = await ask({ model: "mock/error-429" });
  const passed = await ask({});
  const forbidden = await ask({ model: "mock/error-429", headers: { "x-weir-capture": "no" } });
  expect((await bodyOf(failed.id)).error).toBeString();
  for (const { id } of [passed, forbidden]) {
    expect(await isListed(id)).toBe(true);
    expect((await admin(`/calls/${id}/body`)).status).toBe(404);
  }
});

test("long bodies are cut, a reload turns capture off, and weir store prune --bodies deletes all", async () => {
  books = await startBooks({ workers: 1, config: { capture: { share: 1, bytes: 2048 } } });
  const { id } = await ask({ prompt: "word ".repeat(2_000), stream: true });
  const body = await bodyOf(id);
  expect(body.cut).toEqual(["request", "answer"]);
  expect([body.request.length, body.answer.length]).toEqual([2048, 2048]);
  await Bun.write(join(books.folder, "weir.yaml"), JSON.stringify({}));
  expect(books.run("reload").code).toBe(0);
  const later = await ask({});
  expect(await isListed(later.id)).toBe(true);
  expect((await admin(`/calls/${later.id}/body`)).status).toBe(404);
  const pruned = books.run("store", "prune", "--bodies");
  expect([pruned.code, pruned.output]).toEqual([0, expect.stringContaining("deleted 1 row")]);
  expect((await admin(`/calls/${id}/body`)).status).toBe(404);
});
