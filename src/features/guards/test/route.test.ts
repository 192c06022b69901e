/** Requests with a value that a guard leads to a local model: the other provider sees nothing of them, whatever fails. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../../core/json.ts";
import { runCommand } from "../../../../test/helpers/command.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, eventsIn, provide, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

/** Leads calls to the other model, and asks it, if a header says so. */
const PLUGIN = `
import { definePlugin } from "weir";
export default definePlugin({
  name: "leads",
  hooks: {
    async intercept(call) {
      const wish = call.headers.get("x-lead");
      if (wish === "ask") return { answer: (await call.ask({ model: "cloud/m", turns: call.request.turns })).text };
      return wish === "model" ? { model: "cloud/m" } : undefined;
    },
  },
});
`;

const CARD = "4111 1111 1111 1111";
let gateway: RunningGateway;
let cloud: Upstream;
let local: Upstream;
let isLocalDown = false;
let config: Record<string, unknown>;

beforeAll(async () => {
  const said = ({ path, body }: Parameters<typeof provide>[1]) =>
    path.includes("embeddings")
      ? json({ object: "list", model: "e", data: [{ object: "embedding", index: 0, embedding: [1] }] })
      : provide(SPOKEN["chat-completions"]!, { path, body } as Parameters<typeof provide>[1]);
  cloud = startUpstream(said);
  local = startUpstream((request) => (isLocalDown ? { ...json({}), status: 503 } : said(request)));
  const provider = (upstream: Upstream) => ({
    ...{ speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567" },
    ...{ models: ["m", "e"], embeds: { embeddings: { path: "/embeddings" } } },
  });
  config = {
    providers: { cloud: provider(cloud), local: provider(local) },
    fallbacks: { "local/m": ["cloud/m"], "local/e": ["cloud/e"] },
    guards: {
      private: { find: ["card"], do: { route: "local/m" }, models: ["cloud/m"] },
      vectors: { find: ["card"], do: { route: "local/e" }, models: ["cloud/e"] },
      kept: { find: ["email"], do: "replace", unless: ["local/*"] },
    },
    retries: { attempts: 2 },
    log: { format: "json" },
  };
  gateway = await startGateway({ config, plugins: { "leads.ts": PLUGIN } });
});

afterAll(async () => {
  await gateway.stop();
  cloud.stop();
  local.stop();
});

const post = (path: string, body: JsonObject) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const seenBy = ({ requests }: Upstream) => requests.map(({ body }) => body.toString()).join("\n");

describe("a card in the prompt is answered by the local model", () => {
  for (const [format, { path, body, read }] of Object.entries(APIS))
    for (const stream of [false, true])
      test(`${format}${stream ? ", streamed" : ""}`, async () => {
        const before = [cloud.requests.length, local.requests.length];
        const { tools: _, ...plain } = body("cloud/m", stream, `SAY my card ${CARD} of 7`);
        const response = await post(path("cloud/m", stream), plain);
        const text = await response.text();
        expect(response.status).toBe(200);
        expect(read(eventsIn(text)).text).toContain(CARD);
        expect(response.headers.get("x-weir-guards")).toMatch(/^private=routed:\d+$/);
        expect([cloud.requests.length, local.requests.length]).toEqual([before[0]!, before[1]! + 1]);
      });
});

test("without a card the model that was asked for answers", async () => {
  const { messages } = { messages: [{ role: "user", content: "SAY nothing private of 7" }] };
  const response = await post("/v1/chat/completions", { model: "cloud/m", messages });
  expect(response.headers.get("x-weir-guards")).toBe("private=passed, kept=passed");
  expect(cloud.requests.at(-1)!.body.toString()).toContain("nothing private");
});

test("a local model that is down has no fallback outside of what the guard permits", async () => {
  isLocalDown = true;
  const before = cloud.requests.length;
  const messages = [{ role: "user", content: `SAY ${CARD} of 7` }];
  const response = await post("/v1/chat/completions", { model: "cloud/m", messages });
  isLocalDown = false;
  expect(response.status).toBeGreaterThanOrEqual(500);
  expect(cloud.requests.length).toBe(before);
  const id = response.headers.get("x-request-id");
  const lines = () =>
    gateway.log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as JsonObject);
  for (let tries = 0; tries < 200 && !lines().some((one) => one.id === id); tries++) await Bun.sleep(10);
  const record = lines().find((one) => one.id === id);
  expect(record).toMatchObject({ routed_model: "local/m", provider: "local" });
  expect(record!.guards).toMatchObject([
    { name: "private", verdict: "routed", place: "messages[0].content" },
  ]);
});

test("a permitted model that the client asks for does not open its fallbacks", async () => {
  isLocalDown = true;
  const messages = [{ role: "user", content: "SAY to anna@example.com of 7" }];
  const response = await post("/v1/chat/completions", { model: "local/m", messages });
  isLocalDown = false;
  expect([response.status, response.headers.get("x-weir-guards")]).toEqual([
    200,
    "private=passed, kept=replaced:1",
  ]);
  expect(await response.text()).toContain("anna@example.com");
  expect(seenBy(cloud)).not.toContain("anna@example.com");
});

test("no plugin leads a routed call elsewhere, or asks another model for it", async () => {
  const before = cloud.requests.length;
  for (const wish of ["model", "ask"]) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-lead": wish },
      body: JSON.stringify({ model: "cloud/m", messages: [{ role: "user", content: `SAY ${CARD} of 7` }] }),
    });
    expect([wish, response.status, await response.text()]).toEqual([
      wish,
      200,
      expect.stringContaining(CARD),
    ]);
  }
  expect(cloud.requests.length).toBe(before);
});

test("a budget that is exhausted does not let another model stand in", async () => {
  const price = { input: 1, output: 1 };
  const state = await mkdtemp(join(tmpdir(), "weir-guards-"));
  const spent = await startGateway({
    config: {
      ...config,
      state,
      fallbacks: {},
      prices: { "local/m": price, "cloud/m": price },
      budgets: {
        local: {
          on: { model: "local/m" },
          limit: 0,
          every: "day",
          mode: "hard",
          onEmpty: { use: "cloud/m" },
        },
      },
    },
  });
  await spent.opened();
  const before = cloud.requests.length;
  const ask = (content: string) =>
    fetch(`${spent.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "cloud/m", messages: [{ role: "user", content }] }),
    });
  const refused = await ask(`SAY ${CARD} of 7`);
  expect([refused.status, cloud.requests.length, await refused.text()]).toEqual([
    429,
    before,
    expect.stringContaining("insufficient_quota"),
  ]);
  // Asked for directly and without a card, the budget lets the other model stand in.
  const direct = await fetch(`${spent.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "local/m", messages: [{ role: "user", content: "SAY of 7" }] }),
  });
  expect([direct.status, cloud.requests.length]).toEqual([200, before + 1]);
  await spent.stop();
  await rm(state, { recursive: true });
});

test("embeddings and counts", async () => {
  const before = cloud.requests.length;
  const vectors = await post("/v1/embeddings", { model: "cloud/e", input: [`pay with ${CARD}`] });
  expect([vectors.status, vectors.headers.get("x-weir-guards")]).toEqual([200, "vectors=routed:1"]);
  const messages = [{ role: "user", content: CARD }];
  const counted = await post("/v1/messages/count_tokens", { model: "cloud/m", messages });
  expect([counted.status, counted.headers.get("x-weir-guards")]).toEqual([200, "private=routed:1"]);
  expect(cloud.requests.length).toBe(before);
  expect(seenBy(cloud)).not.toContain("4111");
});

test("weir check refuses a route that nothing serves, and one that unless does not permit", async () => {
  const guards = {
    private: { find: ["card"], do: { route: "nowhere/x" } },
    other: { find: ["card"], do: { route: "cloud/m" }, unless: ["local/*"] },
  };
  const cwd = await mkdtemp(join(tmpdir(), "weir-guards-"));
  await Bun.write(join(cwd, "weir.yaml"), JSON.stringify({ ...config, guards }));
  const { code, out, err } = await runCommand(["check", "--offline"], { cwd });
  await rm(cwd, { recursive: true });
  const checked = (out + err).replaceAll(/\s+/g, " ");
  expect(code).toBe(1);
  expect(checked).toContain('guards.private.do.route: no provider that is on serves "nowhere/x"');
  expect(checked).toContain("guards.other.do.route: unless does not permit cloud/m");
});
