/** Rules that operators add at run time: two workers, a restart, who may, and what the config forbids. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CapturedCall, CaptureRule } from "../contracts.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

let books: RunningBooks;
afterEach(() => books.end());

async function ask(headers: Record<string, string>, prompt = "Hello", model = "mock/echo"): Promise<string> {
  const response = await fetch(`${books.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: prompt }] }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  await until(async () => (await admin(`/calls/${id}`)).ok, 10_000);
  return id;
}

function admin(
  path: string,
  { key = books.admin.credential, method = "GET", body = undefined as unknown } = {},
) {
  return fetch(`${books.admin.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** @returns status and answer */
async function add(on: CaptureRule["on"], more: { key?: string; minutes?: number } = {}) {
  const { key, minutes } = more;
  const body = { on, ...(minutes !== undefined && { minutes }) };
  const response = await admin("/capture/rules", { method: "POST", body, ...(key !== undefined && { key }) });
  return {
    status: response.status,
    answer: (await response.json()) as CaptureRule & { error?: { code: string; message: string } },
  };
}

async function bodyOf(id: string): Promise<CapturedCall | undefined> {
  let response = await admin(`/calls/${id}/body`);
  await until(async () => (response = await admin(`/calls/${id}/body`)).ok, 1_500);
  return response.ok ? ((await response.json()) as CapturedCall) : undefined;
}

async function sessionOf(id: string): Promise<string> {
  return ((await (await admin(`/calls/${id}`)).json()) as { session: string }).session;
}

async function rules(): Promise<CaptureRule[]> {
  return ((await (await admin("/capture/rules")).json()) as { rules: CaptureRule[] }).rules;
}

test("a session is captured from the answer on in both workers, masked, and no longer once the rule is removed", async () => {
  books = await startBooks({ workers: 2 });
  const own = { "x-session-id": "sess-1" };
  const before = await ask(own);
  const what = await sessionOf(before);
  expect(existsSync(join(books.state, "capture.db"))).toBe(false);
  const { status, answer: rule } = await add({ kind: "session", what });
  expect([status, rule.on, rule.path]).toEqual([201, { kind: "session", what }, "/"]);
  expect(rule.endsAt - rule.createdAt).toBe(3_600_000);
  const secret = "sk-proj-pastedpastedpasted0123456789";
  for (let call = 0; call < 8; call++) {
    const body = await bodyOf(await ask(own, `The key is ${secret} today`));
    expect(body?.request).toContain("The key is *** today");
    expect(body?.answer).not.toContain("pasted");
  }
  expect(await bodyOf(before)).toBeUndefined();
  expect(await bodyOf(await ask({ "x-session-id": "sess-2" }))).toBeUndefined();
  expect(await bodyOf(await ask({ ...own, "x-weir-capture": "no" }))).toBeUndefined();
  expect((await rules()).map(({ id }) => id)).toEqual([rule.id]);
  expect((await admin(`/capture/rules/${rule.id}`, { method: "DELETE" })).status).toBe(200);
  expect(await rules()).toEqual([]);
  expect(await bodyOf(await ask(own))).toBeUndefined();
  expect((await admin(`/capture/rules/${rule.id}`, { method: "DELETE" })).status).toBe(404);
  const log = await (await admin("/audit/log")).text();
  expect(log.split(`captures/${rule.id}`)).toHaveLength(3);
});

test("a rule survives a restart, keeps answers of whole calls where the config wants errors only, and has an end", async () => {
  const key = { name: "alice", key: "weir-test-alice-0123456789", path: "/eng" };
  const config = { keys: [key], capture: { errorsOnly: true } };
  books = await startBooks({ workers: 2, config });
  const headers = { authorization: `Bearer ${key.key}` };
  expect((await add({ kind: "key", what: "alice" })).status).toBe(201);
  expect(await bodyOf(await ask(headers))).toBeDefined();
  books.signal("SIGTERM");
  await books.exited;
  books = await startBooks({ workers: 2, config, state: books.state });
  expect(await rules()).toHaveLength(1);
  expect(await until(async () => (await bodyOf(await ask(headers))) !== undefined)).toBe(true);
  for (const minutes of [0, 1_441])
    expect((await add({ kind: "path", what: "/" }, { minutes })).answer.error?.code).toBe("invalid_request");
  for (const what of ["eng", "/eng/", "/a b"]) expect((await add({ kind: "path", what })).status).toBe(400);
  expect((await add({ kind: "session", what: "0123456789abcdef" })).status).toBe(404);
  expect((await add({ kind: "key", what: "bob" })).status).toBe(404);
});

test("only admin keys may, each on its path", async () => {
  const keys = [
    { name: "alice", key: "weir-test-alice-0123456789", path: "/eng" },
    { name: "bob", key: "weir-test-bobby-0123456789", path: "/sales" },
  ];
  books = await startBooks({ workers: 1, config: { keys } });
  const make = (name: string, ...args: string[]) => {
    const { output } = books.run("admin", "key", "create", name, ...args, "--json");
    return (JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as { secret: string })
      .secret;
  };
  const eng = make("eng", "--path", "/eng");
  const reader = make("reader", "--read");
  expect((await add({ kind: "key", what: "alice" }, { key: reader })).status).toBe(403);
  expect((await admin("/capture/rules", { key: reader })).status).toBe(403);
  expect((await add({ kind: "key", what: "bob" }, { key: eng })).status).toBe(404);
  expect((await add({ kind: "path", what: "/" }, { key: eng })).status).toBe(403);
  expect((await add({ kind: "path", what: "/engine" }, { key: eng })).status).toBe(403);
  const own = { authorization: `Bearer ${keys[1]!.key}`, "x-session-id": "sess-1" };
  const foreign = await sessionOf(await ask(own));
  expect((await add({ kind: "session", what: foreign }, { key: eng })).status).toBe(404);
  expect((await add({ kind: "key", what: "alice" }, { key: eng })).status).toBe(201);
  const other = (await add({ kind: "key", what: "bob" })).answer.id;
  const seen = (await (await admin("/capture/rules", { key: eng })).json()) as { rules: CaptureRule[] };
  expect(seen.rules.map(({ path, by }) => [path, /^key_/.test(by)])).toEqual([["/eng", true]]);
  expect((await admin(`/capture/rules/${other}`, { key: eng, method: "DELETE" })).status).toBe(404);
});

test("the config can forbid it, and a reload ends what rules capture", async () => {
  books = await startBooks({ workers: 2 });
  const own = { "x-session-id": "sess-1" };
  const what = await sessionOf(await ask(own));
  expect((await add({ kind: "session", what })).status).toBe(201);
  expect(await bodyOf(await ask(own))).toBeDefined();
  await Bun.write(join(books.folder, "weir.yaml"), JSON.stringify({ capture: { onDemand: false } }));
  expect(books.run("reload").code).toBe(0);
  expect(await bodyOf(await ask(own))).toBeUndefined();
  const { status, answer } = await add({ kind: "session", what });
  expect([status, answer.error?.code]).toEqual([409, "capture_off"]);
  expect(answer.error?.message).toContain("capture.onDemand");
  expect(await (await admin("/capture/rules")).json()).toMatchObject({ off: "capture.onDemand" });
});
