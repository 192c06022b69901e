/** What the console asks of a gateway that runs: its workers answer over the keeper. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as Admin from "../../src/operator/index.ts";
import { until } from "../helpers/serving.ts";
import { type RunningBooks, startBooks } from "./running.ts";

let books: RunningBooks;
let key: string;

beforeAll(async () => {
  const state = mkdtempSync(join(tmpdir(), "weir-console-api-"));
  const config = {
    routes: { smart: ["mock/error-503", "mock/chat"] },
    prices: { "mock/chat": { input: 3, output: 15 } },
  };
  books = await startBooks({ workers: 2, config, state });
  key = books.createKey("trial", "--path", "/eng");
}, 60_000);
afterAll(() => books.end());

function send(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${books.admin.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${books.admin.credential}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function read<Answer>(path: string, body?: unknown): Promise<Answer> {
  const response = await send(body === undefined ? "GET" : "POST", path, body);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "Hello" }],
  ...more,
});

test("the log has the address of the console without a link, and weir console prints links that sign in once", async () => {
  const log = books.log.join("\n");
  expect(log).toContain(`\n  console ${books.admin.url}/console; weir console prints a link that signs in\n`);
  expect(log).not.toContain("#t=");
  const link = () =>
    /^(http:\/\/127\.0\.0\.1:\d+\/console)#t=([\w-]{43})$/m.exec(books.run("console").output)!;
  const printed = link();
  expect(printed[1]).toBe(`${books.admin.url}/console`);
  const signIn = (token: string) =>
    fetch(`${books.admin.url}/admin/v1/session`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "x-weir-console": "1", origin: books.admin.url },
      },
      body: JSON.stringify({ token }),
    });
  const first = await signIn(printed[2]!);
  expect(first.status).toBe(200);
  const cookie = first.headers.get("set-cookie")!.split(";")[0]!;
  const session = await fetch(`${books.admin.url}/admin/v1/session`, { headers: { cookie } });
  expect(await session.json()).toMatchObject({ role: "admin", actor: "console", gateway: books.url });
  expect((await signIn(printed[2]!)).status).toBe(410);
  expect((await signIn(link()[2]!)).status).toBe(200);
});

test("the plan of a route, its names and its formats", async () => {
  const routing = await read<Admin.Routing>("/routing/smart");
  expect(routing.plan.map(({ model, provider, state }) => [model, provider, state])).toEqual([
    ["error-503", "mock", "healthy"],
    ["chat", "mock", "healthy"],
  ]);
  const slashed = await read<Admin.Routing>(`/routing/${encodeURIComponent("mock/chat")}`);
  expect(slashed.plan).toHaveLength(1);
  const unknown = await read<Admin.Routing>("/routing/nothing-serves-this");
  expect([unknown.plan, typeof unknown.fault]).toEqual([[], "string"]);
  const models = await read<Admin.Models>("/models");
  expect(models.routes).toEqual(["smart"]);
  expect(models.formats).toContainEqual({ id: "messages", path: "/v1/messages" });
});

test("a request is explained with a key of the store, and nothing is called", async () => {
  const explained = await read<Admin.Explained>("/explain", {
    format: "messages",
    key: "trial",
    body: { ...chat("smart"), max_tokens: 10 },
  });
  expect(explained).toMatchObject({ status: 200, explained: { format: "messages", model: "smart" } });
  const wrong = await read<Admin.Explained>("/explain", {
    format: "messages",
    key: "trial",
    body: { ...chat("no-such-model"), max_tokens: 10 },
  });
  expect(wrong.status).toBe(404);
  expect(wrong.error).toMatchObject({ type: "error" });
});

test("a call of the playground is streamed as it is, and booked to its key", async () => {
  const response = await send("POST", "/playground", {
    format: "chat-completions",
    key: "trial",
    body: chat("mock/chat", { stream: true }),
    headers: { "x-weir-strict": "false" },
  });
  expect([response.status, response.headers.get("x-weir-relayed")]).toEqual([200, "1"]);
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const text = await response.text();
  expect(text).toEndWith("data: [DONE]\n\n");
  const id = response.headers.get("x-request-id")!;
  let entry: Admin.CallEntry | undefined;
  await until(async () => {
    const found = await send("GET", `/calls/${id}`);
    entry = found.ok ? ((await found.json()) as Admin.CallEntry) : undefined;
    return entry !== undefined;
  }, 10_000);
  expect(entry).toMatchObject({ keyName: "trial", path: "/eng", model: "mock/chat", outcome: "complete" });
});

test("the gateway's error is relayed, and wrong trials are errors of the admin API", async () => {
  const failed = await send("POST", "/playground", {
    format: "messages",
    key: "trial",
    body: { ...chat("no-such-model"), max_tokens: 10 },
  });
  expect([failed.status, failed.headers.get("x-weir-relayed")]).toEqual([404, "1"]);
  const body = chat("mock/chat");
  const wrong: [object, number, string | undefined][] = [
    [{ format: "nothing", key: "trial", body }, 400, "/format"],
    [{ format: "gemini", key: "trial", body }, 400, "/format"],
    [
      { format: "messages", key: "trial", body, headers: { Authorization: "x" } },
      400,
      "/headers/Authorization",
    ],
    [{ format: "messages", key: "nobody", body }, 404, undefined],
  ];
  for (const [trial, status, path] of wrong) {
    const response = await send("POST", "/playground", trial);
    const { error } = (await response.json()) as Admin.ApiError;
    expect([response.status, response.headers.get("x-weir-relayed"), error.path]).toEqual([
      status,
      null,
      path,
    ]);
  }
  // Calls need a key since one exists.
  expect((await send("POST", "/playground", { format: "chat-completions", body })).status).toBe(401);
});

test("a call that runs is listed with what it holds, and the live stream tells of it and of its end", async () => {
  const live = await send("GET", "/calls/live");
  const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
  const call = fetch(`${books.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(chat("mock/pace-300", { stream: true })),
  });
  let running: Admin.RunningCalls | undefined;
  await until(async () => {
    running = await read<Admin.RunningCalls>("/calls/running");
    return running.calls.length > 0;
  }, 10_000);
  expect(running!.calls[0]).toMatchObject({
    keyName: "trial",
    path: "/eng",
    model: "mock/pace-300",
    stream: true,
  });
  expect(await read<Admin.RunningCalls>("/calls/running?path=/sales")).toMatchObject({ total: 0, calls: [] });
  await (await call).text();
  let text = "";
  while (!text.includes('"mock/pace-300"') || !text.includes("event: calls"))
    text += (await reader.read()).value!;
  await reader.cancel();
  expect(text).toContain("event: pulse");
});

test("the config says where each option comes from, and shows no secret", async () => {
  const config = await read<Admin.EffectiveConfig>("/config");
  const option = config.options.find(({ path }) => path === "routes");
  expect(option).toMatchObject({ source: "file", isDefault: false });
  expect(config.changes).toEqual([]);
  expect(config.options.find(({ path }) => path === "limits.bodyBytes")?.source).toBe("default");
  const source = await read<Admin.ConfigSource>("/config/source");
  expect(source.file).toBe(config.file!);
  expect(source.text).toContain("smart");
});

test("a reload is done and reports its result", async () => {
  const before = await read<Admin.EffectiveConfig>("/config");
  const answer = await send("POST", "/config/reload");
  expect([answer.status, await answer.json()]).toMatchObject([200, { ok: true }]);
  const after = await read<Admin.EffectiveConfig>("/config");
  expect(after.loadedAt).toBeGreaterThan(before.loadedAt);
}, 60_000);

test("names for suggestions are of keys and of what calls have used", async () => {
  await until(async () => (await read<Admin.Names>("/names")).models.length > 0, 10_000);
  const names = await read<Admin.Names>("/names");
  expect(names.keys).toMatchObject([{ name: "trial", path: "/eng", kind: "call", gone: false }]);
  expect(names.paths).toEqual(["/", "/eng"]);
  expect(names.models).toContain("chat");
  expect(names.asked).toContain("mock/chat");
  expect(names.providers).toContain("mock");
});

test("providers have the state of their deployments, and what the books say of their calls", async () => {
  await until(
    async () =>
      (await read<Admin.Providers>("/providers")).providers.some(
        ({ deployments }) => deployments[0]!.calls > 1,
      ),
    10_000,
  );
  const { providers } = await read<Admin.Providers>("/providers");
  const mock = providers.find(({ name }) => name === "mock")!;
  expect(mock).toMatchObject({ on: true, source: "built-in" });
  const [deployment] = mock.deployments;
  expect(deployment).toMatchObject({ name: "mock", state: "healthy", url: "", shareOfCalls: 1 });
  expect(deployment!.latency.calls).toBeGreaterThan(0);
  expect(deployment!.series.length).toBeGreaterThan(0);
  const off = providers.at(-1)!;
  expect([off.on, off.deployments[0]!.state]).toEqual([false, "no-key"]);
});

test("the overview has the calls of the last minutes, the money of today, and what needs the operator", async () => {
  await until(async () => (await read<Admin.Overview>("/overview")).today.calls > 1, 10_000);
  const overview = await read<Admin.Overview>("/overview");
  expect(overview).toMatchObject({
    gateway: books.url,
    open: false,
    firstCall: true,
  });
  expect(overview.perMinute).toHaveLength(60);
  expect(overview.perMinute.reduce((sum, calls) => sum + calls)).toBe(overview.hour.calls);
  expect(overview.hour.calls).toBe(overview.today.calls);
  expect(overview.firstToken.p95).toBeGreaterThan(0);
  expect(overview.notes).toEqual([]);
});
