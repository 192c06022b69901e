/** The prompt-cache guardian: a provider that caches, clients that break the prefix, and what the admin API says of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { CacheReport, CacheSession, CacheSessions, CallEntry } from "../../../operator/index.ts";
import { json, startUpstream, until, type Upstream } from "../../../../test/helpers/upstream.ts";
import { type RunningBooks, readStore, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;
let upstream: Upstream;

const KEYS = { "ci-bot": "ci-bot-key-1234567890abcdef", person: "person-key-1234567890abcdef" };
const LONG = "The gateway keeps the order of its blocks. ".repeat(300);
/** Prices of the config are dollars a million tokens: nano-dollars a token are a thousand times that. */
const [INPUT, READ, WRITE] = [10, 1, 12.5];

/** A provider of the Messages format: for each user it reads what it has seen of the same beginning, and writes the rest. */
function cachingProvider(): Upstream {
  const cached = new Map<string, string>();
  return startUpstream(({ body }) => {
    const parsed = JSON.parse(body.toString()) as Record<string, unknown[]> & {
      metadata?: { user_id?: string };
    };
    const { tools = [], system = [], messages = [] } = parsed;
    const blocks = typeof system === "string" ? [{ type: "text", text: system }] : system;
    const now = [...tools, ...blocks, ...messages].map((section) => JSON.stringify(section)).join("\n");
    const before = [...cached.values()].toSorted((a, b) => same(b, now) - same(a, now))[0] ?? "";
    const read = Math.floor(same(before, now) / 4);
    cached.set(now, now);
    const written = Math.floor(now.length / 4) - read;
    return json({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "big", stop_reason: "end_turn" },
      content: [{ type: "text", text: "Yes." }],
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: 2,
      },
    });
  });
}

function same(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

beforeAll(async () => {
  upstream = cachingProvider();
  weir = await startBooks({
    workers: 2,
    config: {
      providers: { host: { baseUrl: upstream.url, speaks: "messages", models: ["big"] } },
      prices: { "host/*": { input: INPUT, output: 20, cacheRead: READ, cacheWrite: WRITE } },
      keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, path: `/team/${name}` })),
    },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

let sent = 0;

/** @returns the id of the call */
async function ask(
  key: keyof typeof KEYS,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(weir.url + path, {
    method: "POST",
    // Each connection may reach another worker.
    headers: {
      ...{ "x-api-key": KEYS[key], connection: "close", "user-agent": `${key}/1` },
      ...{ "content-type": "application/json", ...headers },
    },
    body: JSON.stringify({ model: "host/big", max_tokens: 10, ...body }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Yes.")]);
  sent++;
  // The next call begins when the books know of this one: two workers report apart.
  const isStored = () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls")) >= sent;
  await until(isStored, 10_000, () => `the store has not ${sent} calls`);
  return response.headers.get("x-request-id")!;
}

const tool = (name: string) => ({ name, description: LONG, input_schema: { type: "object" } });
const turns = (...texts: string[]) =>
  texts.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
const get = <Answer>(path: string) => weir.api.send<Answer>("GET", path);

test("names the section that broke the cache and what it cost, by key, client, session and call", async () => {
  const tools = [tool("look"), tool("list")];
  const session = { "x-session-id": "build-17" };
  const system = [{ type: "text", text: "Be brief." }];
  await ask("ci-bot", "/v1/messages", { tools, system, messages: turns("one") }, session);
  await ask("ci-bot", "/v1/messages", { tools, system, messages: turns("one", "Yes.", "two") }, session);
  const other = { tools: tools.toReversed(), system, messages: turns("one", "Yes.", "two", "Yes.", "three") };
  const broken = await ask("ci-bot", "/v1/messages", other, session);

  const { cacheBreak, attempts, ...call } = await get<CallEntry>(`/calls/${broken}`);
  const { cacheRead, cacheWrite } = attempts[0]!.usage;
  expect(cacheRead).toBeLessThan(100);
  expect(cacheBreak).toMatchObject({ reason: "reordered", section: "tools" });
  const { tokens, cost } = cacheBreak!;
  expect(tokens).toBeGreaterThan(6_000);
  expect(tokens).toBeLessThanOrEqual(cacheWrite + 3);
  expect(cost).toBe(Math.round(tokens * (WRITE - READ) * 1_000));

  const byKey = await get<CacheReport>("/cache?by=key");
  expect(byKey.rows).toMatchObject([
    {
      keyName: "ci-bot",
      calls: 3,
      breaks: 1,
      lost: tokens,
      lostCost: cost,
      commonest: { reason: "reordered", section: "tools", breaks: 1 },
    },
  ]);
  const { saved, cacheRead: read, cacheWrite: written } = byKey.total;
  expect(saved).toBe(Math.round((read * (INPUT - READ) - written * (WRITE - INPUT)) * 1_000));
  expect((await get<CacheReport>("/cache?by=client,path")).rows[0]!.group).toEqual({
    client: "ci-bot/1",
    path: "/team/ci-bot",
  });

  const { sessions } = await get<CacheSessions>("/cache/sessions");
  expect(sessions).toMatchObject([
    { session: call.session!, keyName: "ci-bot", client: "ci-bot/1", breaks: 1, lostCost: cost },
  ]);
  const detail = await get<CacheSession>(`/cache/sessions/${call.session}`);
  expect(detail.calls.map(({ id, break: lost }) => [id === broken, lost?.reason])).toEqual([
    [false, undefined],
    [false, undefined],
    [true, "reordered"],
  ]);
  expect(detail.calls[1]!.cacheRead).toBeGreaterThan(6_000);
});

test("finds the block of another dialect that changed, by the paths of the client's own request", async () => {
  const system = (text: string) => ({ role: "system", content: text });
  const send = (head: string, ...texts: string[]) =>
    ask("person", "/v1/chat/completions", { messages: [system(head), ...turns(...texts)] });
  await send(`${LONG} It is 12:00.`, "What is a weir?");
  await send(`${LONG} It is 12:00.`, "What is a weir?", "Yes.", "Why?");
  expect((await get<CacheSessions>("/cache/sessions?key=person")).sessions).toEqual([]);
  const broken = await send(`At 12:01: ${LONG}`, "What is a weir?", "Yes.", "Why?", "Yes.", "How?");
  expect((await get<CallEntry>(`/calls/${broken}`)).cacheBreak).toMatchObject({
    reason: "changed",
    section: "messages[0]",
  });
  expect((await get<CacheSessions>("/cache/sessions?key=person")).sessions.length).toBe(1);
});

test("keeps hashes only, and nothing of short prompts", async () => {
  const before = await get<CacheReport>("/cache");
  await ask("person", "/v1/messages", { messages: turns("a short secret-canary prompt") });
  expect((await get<CacheReport>("/cache")).total).toEqual(before.total);
  const found = await Bun.$`grep -rlE "keeps the order of its|secret-canary" ${weir.state}`.nothrow().text();
  expect(found).toBe("");
});
