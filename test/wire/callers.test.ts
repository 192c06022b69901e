/**
 * Callers without a key over real connections: a feature has a form of tokens, and each operation of each format asks it. Budgets and
 * limits count at the path, and the record has person and path, but no key.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { type GatewayOptions, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { startStoringVendor } from "../helpers/storing-vendor.ts";
import { type Claims, makeToken, tokens } from "../helpers/tokens.ts";

setDefaultTimeout(60_000);

const SECRET = "planted-secret-of-the-issuer";
const TEAM = "team-key-1234567890abcdef";

const token = (claims: Partial<Claims> = {}) =>
  makeToken({ sub: "anna", path: "/eng/anna", ...claims }, SECRET);
const ANNA = token();
const BEA = token({ sub: "bea", path: "/eng/bea" });
const FORGED = makeToken({ sub: "anna", path: "/eng/anna" }, "another secret");

const folders: string[] = [];
const running: RunningGateway[] = [];
afterAll(async () => {
  await Promise.all(running.map((gateway) => gateway.stop()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

/** @returns the gateway, and its folder for state and revoked tokens */
async function start(config: Record<string, unknown> = {}, options: Partial<GatewayOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "weir-callers-"));
  folders.push(folder);
  const revoked = join(folder, "revoked");
  writeFileSync(revoked, "");
  const gateway = await startGateway({
    features: [tokens],
    config: {
      ...{ state: join(folder, "state"), log: { format: "json" }, responses: { store: "on" } },
      keys: [{ name: "team", key: TEAM, path: "/eng" }],
      tokens: { secret: SECRET, revoked },
      ...config,
    },
    ...options,
  });
  running.push(gateway);
  await gateway.opened();
  return { gateway, revoked, folder };
}

let gateway: RunningGateway;
let revoked: string;
beforeAll(async () => {
  ({ gateway, revoked } = await start());
});

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/** @param credential a token, or headers with credentials */
async function send(
  path: string,
  credential: string | Record<string, string>,
  body?: JsonObject,
  to = gateway,
) {
  const answer = await fetch(to.url + path, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: {
      "content-type": "application/json",
      ...(typeof credential === "string" ? bearer(credential) : credential),
    },
  });
  const text = await answer.text();
  const isOne = answer.headers.get("content-type") === "application/json";
  const parsed = (isOne ? JSON.parse(text) : {}) as JsonObject;
  return { status: answer.status, headers: answer.headers, text, body: parsed };
}

const HI = [{ role: "user", content: "hello" }];
const CONTENTS = [{ role: "user", parts: [{ text: "hello" }] }];

/** One way to generate in each format, as one body and as a stream. */
const FORMATS: Readonly<Record<string, (stream: boolean) => readonly [path: string, body: JsonObject]>> = {
  "chat-completions": (stream) => ["/v1/chat/completions", { model: "mock/chat", stream, messages: HI }],
  messages: (stream) => ["/v1/messages", { model: "mock/chat", max_tokens: 50, stream, messages: HI }],
  responses: (stream) => ["/v1/responses", { model: "mock/chat", stream, input: "hello" }],
  gemini: (stream) => [
    `/v1beta/models/mock/chat:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: CONTENTS },
  ],
  ollama: (stream) => ["/api/chat", { model: "mock/chat", stream, messages: HI }],
};
const WAYS = Object.entries(FORMATS).flatMap(([format, way]) =>
  [false, true].map((stream) => ({ name: `${format}${stream ? " stream" : ""}`, format, way: way(stream) })),
);

const BOTH =
  "The credentials in the header authorization and in the header x-api-key belong to two different callers; send only the one that you mean.";
const BOTH_HEADERS = { ...bearer(ANNA), "x-api-key": TEAM };
const REFUSED = "The token is not valid.";

/** The bodies of both errors in the shape of each format. */
const SHAPES: Readonly<Record<string, readonly [unauthorized: object, conflict: object]>> = {
  "chat-completions": [
    { error: { message: REFUSED, code: "token_refused", type: "invalid_request_error" } },
    { error: { message: BOTH, code: "conflicting_credentials", type: "invalid_request_error" } },
  ],
  messages: [
    { type: "error", error: { type: "authentication_error", message: REFUSED } },
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: BOTH.replace(
          /header authorization(.*)header x-api-key/,
          "header x-api-key$1header authorization",
        ),
      },
    },
  ],
  responses: [
    { error: { message: REFUSED, code: "token_refused" } },
    { error: { message: BOTH, code: "conflicting_credentials" } },
  ],
  gemini: [
    { error: { code: 401, status: "UNAUTHENTICATED", message: REFUSED } },
    {
      error: {
        ...{ code: 400, status: "INVALID_ARGUMENT" },
        message: BOTH.replace(
          /header authorization(.*)header x-api-key/,
          "header x-goog-api-key$1header authorization",
        ),
      },
    },
  ],
  ollama: [{ error: REFUSED }, { error: BOTH }],
};

test.each(WAYS)(
  "$name: a token generates, and both refusals have the shape of the format",
  async ({ format, way }) => {
    const [path, body] = way;
    const answered = await send(path, ANNA, body);
    expect([answered.status, answered.text.length > 20]).toEqual([200, true]);
    const [unauthorized, conflict] = SHAPES[format]!;
    const refused = await send(path, FORGED, body);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(refused.body).toMatchObject(unauthorized);
    const other = format === "gemini" ? "x-goog-api-key" : "x-api-key";
    const both = await send(path, { ...bearer(ANNA), [other]: TEAM }, body);
    expect([both.status, both.body]).toMatchObject([400, conflict]);
  },
);

interface Operation {
  security?: readonly Record<string, unknown>[];
}

test("every operation that needs a credential asks the form", async () => {
  const document = (await send("/openapi.json", ANNA)).body as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  const found: string[] = [];
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { security }] of Object.entries(methods)) {
      if (!security?.length) continue;
      found.push(`${method} ${path}`);
      const names = security.flatMap((one) => Object.keys(one));
      const target = gateway.url + path.replace("{model}", "mock/chat").replace(/\{\+?\w+\}/, "mock%2Fchat");
      const ask = async (headers: Record<string, string>) => {
        const answer = await fetch(target, {
          method: method.toUpperCase(),
          headers: { "content-type": "application/json", ...headers },
          ...(method === "post" && { body: "{}" }),
        });
        return [
          path,
          answer.status,
          method === "head" || /belong to two|not valid/.test(await answer.text()),
        ];
      };
      for (const name of names) {
        const value = (text: string) => (name === "authorization" ? `Bearer ${text}` : text);
        expect(await ask({ [name]: value(FORGED) })).toEqual([path, 401, true]);
        // What the operation then says of an empty body is its own.
        expect((await ask({ [name]: value(ANNA) }))[1]).not.toBe(401);
      }
      const [one, other] = names.filter((name) => name !== "authorization");
      const second = { [one ?? other!]: TEAM };
      expect(await ask({ ...bearer(ANNA), ...second })).toEqual([path, 400, true]);
    }
  expect(found.length).toBeGreaterThan(15);
  for (const one of ["post /v1/embeddings", "get /v1/key", "post /v1/explain", "post /v1/responses/compact"])
    expect(found).toContain(one);
});

test("an old credential in another header does not disturb", async () => {
  const [path, body] = FORMATS["messages"]!(false);
  expect((await send(path, { ...bearer(ANNA), "x-api-key": ANNA }, body)).status).toBe(200);
  expect((await send(path, { "x-api-key": TEAM, ...bearer(FORGED) }, body)).status).toBe(200);
  expect((await send(path, { "x-api-key": "sk-ant-old", ...bearer(ANNA) }, body)).status).toBe(401);
  expect(
    (await send("/v1beta/models/mock/chat:generateContent?key=" + ANNA, {}, { contents: CONTENTS })).status,
  ).toBe(200);
});

test("a revoked token is refused at its next request, and no other one", async () => {
  const one = token({ jti: "one" });
  const other = token({ jti: "other" });
  expect((await send("/v1/models", one)).status).toBe(200);
  appendFileSync(revoked, `${one}\n`);
  expect((await send("/v1/models", one)).body).toMatchObject({
    error: { message: "The token was revoked." },
  });
  expect((await send("/v1/models", other)).status).toBe(200);
});

test("a token restricts models, in lists and in calls", async () => {
  const narrow = token({ models: ["mock/chat"] });
  const { body } = await send("/v1/models", narrow);
  expect((body["data"] as unknown as { id: string }[]).map(({ id }) => id)).toEqual(["mock/chat"]);
  const refused = await send("/v1/chat/completions", narrow, { model: "mock/echo", messages: HI });
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining("The caller anna may not use the model `mock/echo`; GET /v1/models lists"),
  ]);
});

test("a stored answer belongs to the person, whatever the token", async () => {
  const { body } = await send("/v1/responses", ANNA, { model: "mock/chat", input: "hello" });
  const path = `/v1/responses/${String(body["id"])}`;
  expect((await send(path, token({ jti: "second" }))).status).toBe(200);
  expect((await send(path, BEA)).status).toBe(404);
  expect((await send(path, TEAM)).status).toBe(404);
});

test("an item of the provider belongs to the caller, also where there is one key", async () => {
  const vendor = startStoringVendor();
  const openai = {
    baseUrl: `${vendor.url}/v1`,
    apiKey: "key-of-the-vendor-12345",
    traits: { storesAnswers: true },
  };
  const { gateway: weir } = await start({ providers: { openai }, responses: { commitMs: 10_000 } });
  const ask = (input: Json) => (who: string) =>
    send("/v1/responses", who, { model: "openai/m", input }, weir);
  const { body } = await ask("hi")(TEAM);
  const [, message] = body["output"] as unknown as { id: string }[];
  const refer = ask([{ type: "item_reference", id: message!.id }]);
  expect((await refer(TEAM)).status).toBe(200);
  expect(await refer(ANNA)).toMatchObject({ status: 404, body: { error: { code: "item_not_found" } } });
  vendor.stop();
});

test("GET /v1/key describes a caller without a key", async () => {
  const until = Math.floor(Date.now() / 1000) + 3600;
  const own = await send("/v1/key", token({ exp: until, models: ["mock/chat"] }));
  expect(own.body).toEqual({
    ...{ id: "tokens/anna", name: "anna", path: "/eng/anna", limits: [], budgets: [] },
    scopes: { models: ["mock/chat"], server_tools: true },
    expires_at: new Date(until * 1000).toISOString(),
  });
});

/** A program whose answers cost a cent. */
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture"],
  async *generate() {
    await Bun.sleep(5);
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done" };
    yield { type: "block-end", index: 0 };
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

/** A stream of chat with an answer that costs a cent at most. */
const paint = (credential: string, to: RunningGateway) =>
  send(
    "/v1/chat/completions",
    credential,
    { model: "painter/picture", max_tokens: 10, stream: true, messages: HI },
    to,
  );

test("a hard budget and a limit on the path count keys, tokens and work below it", async () => {
  const bought: WorkerPart = {
    seams: () => ({
      around: {
        at: "loop",
        async run({ call }, next) {
          if (call.headers.has("x-buy")) await buy(call);
          return next();
        },
      },
    }),
  };
  let host!: WorkerHost;
  const buy = (payer: Parameters<WorkerHost["work"]>[0]["payer"]) =>
    host.work({ by: "shop", name: "buy", payer, units: { call: 1 }, timeoutMs: 5_000, run: async () => {} });
  const shop: NamedPart<WorkerHost, WorkerPart> = {
    name: "shop",
    load: async () => ({ start: (given) => ((host = given), bought) }),
  };
  const { gateway: weir, folder } = await start(
    {
      budgets: { eng: { on: "/eng", every: "total", limit: 0.2, mode: "hard" } },
      rates: { anna: { on: "/eng/anna", rpm: 6 } },
      prices: { "painter/*": { input: 0, output: 1_000 }, "shop/*": { units: { call: 0.01 } } },
    },
    { plugins: { "painter.ts": PAINTER }, workers: [shop] },
  );
  // Six calls a minute for anna, whichever token.
  const limited = await Promise.all(
    Array.from({ length: 10 }, (_, at) => paint(token({ jti: String(at % 3) }), weir)),
  );
  const done = limited.filter(({ status }) => status === 200);
  expect([done.length, done.every(({ text }) => text.includes("[DONE]"))]).toEqual([6, true]);
  expect(limited.filter(({ status }) => status === 429).length).toBe(4);
  // Two pieces of work that bea pays for, with her calls.
  for (let at = 0; at < 2; at++) {
    const answer = await fetch(`${weir.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-buy": "1", ...bearer(BEA) },
      body: JSON.stringify({ model: "painter/picture", max_tokens: 10, messages: HI }),
    });
    expect(answer.status).toBe(200);
  }
  // 20 cents, of which 10 are spent.
  const rest = await Promise.all(Array.from({ length: 30 }, (_, at) => paint(at % 2 ? BEA : TEAM, weir)));
  expect(rest.filter(({ status }) => status === 200).length).toBe(10);
  await weir.stop();

  const store = sqliteStore(join(folder, "state/weir.db"));
  await store.open();
  const reports = new Reports(store.sql, store.sql, Date.now);
  expect((await reports.audit()).checks.filter(({ holds }) => !holds)).toEqual([]);
  const [account] = await store.sql.all<{ spent: number }>("SELECT spent FROM accounts");
  expect(account).toMatchObject({ spent: (20 * DOLLAR) / 100 });
  const { calls } = await reports.calls({ limit: 1000 });
  await store.close();
  const records = calls.map(({ key, path, ...more }) => {
    const { person, via } = more as { person?: string; via?: string };
    return [path, key, person, via].join(" ");
  });
  expect(new Set(records)).toEqual(
    new Set(["/eng/anna  anna token", "/eng/bea  bea token", "/eng config:team  "]),
  );
  const lines = weir.log.flatMap((line) =>
    line.includes('"format"') ? [JSON.parse(line) as JsonObject] : [],
  );
  expect(new Set(lines.map(({ key }) => key))).toEqual(new Set(["team", undefined]));
});

test("places in flight are counted for the person", async () => {
  const { gateway: weir } = await start(
    { limits: { callsPerClient: 1 } },
    { plugins: { "painter.ts": PAINTER.replace("sleep(5)", "sleep(300)") } },
  );
  const asked = [ANNA, token({ jti: "second" }), BEA].map((one) => paint(one, weir));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect([statuses.slice(0, 2).sort(), statuses[2]]).toEqual([[200, 429], 200]);
});

test("from the end of its time on a caller is refused, and so are asks of a call that runs", async () => {
  const late = `import { definePlugin } from "weir";
export default definePlugin({ name: "late", hooks: { async intercept(call) {
  if (call.depth > 0 || !call.headers.get("x-late")) return undefined;
  await Bun.sleep(Number(call.headers.get("x-late")));
  await call.ask({ model: "mock/chat", prompt: "hello" });
} } });`;
  let host!: WorkerHost;
  const part: NamedPart<WorkerHost, WorkerPart> = {
    name: "shop",
    load: async () => ({ start: (given) => ((host = given), { seams: () => undefined }) }),
  };
  const { gateway: weir } = await start(
    {},
    {
      plugins: { "late.js": late, "painter.ts": PAINTER.replace("sleep(5)", "sleep(2_100)") },
      workers: [part],
    },
  );
  const until = Math.ceil(Date.now() / 1000) + 1;
  const brief = token({ exp: until });
  const body = { model: "mock/chat", messages: HI };
  expect((await send("/v1/chat/completions", brief, body, weir)).status).toBe(200);
  const begun = paint(brief, weir);
  const wait = { ...bearer(brief), "x-late": String(until * 1000 - Date.now() + 20) };
  const asking = send("/v1/chat/completions", wait, body, weir);
  await Bun.sleep(until * 1000 - Date.now() + 5);
  const refused = await send("/v1/chat/completions", brief, body, weir);
  expect([refused.status, refused.body]).toMatchObject([401, { error: { code: "credential_expired" } }]);
  expect((await asking).text).toContain("The credential expired");
  expect((await begun).text).toContain("[DONE]");
  const principal = host.principal({ id: "anna", name: "anna", path: "/eng", until: until * 1000 });
  const work = { by: "shop", name: "buy", units: { call: 1 }, timeoutMs: 5_000, run: async () => {} };
  await expect(host.work({ ...work, payer: { principal } })).rejects.toThrow("The credential expired");
});

test("a form that claims what another one claims is a fault of the start", async () => {
  const twin: NamedPart<WorkerHost, WorkerPart> = {
    name: "twin",
    load: async () => ({
      start: () => ({
        seams: () => ({
          credentials: [
            {
              name: "anything",
              example: "x",
              claims: () => true,
              check: () => Promise.reject(new Error("no")),
            },
          ],
        }),
      }),
    }),
  };
  await expect(start({}, { workers: [twin] })).rejects.toThrow(
    /^the forms of credentials (keys of weir|tokens of the test) and anything both claim "/,
  );
});

test("without the form a token is nothing", async () => {
  const { gateway: weir } = await start({ tokens: {} });
  const { status, body } = await send("/v1/models", ANNA, undefined, weir);
  expect([status, body]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
  expect(
    (await send("/v1/models", { ...BOTH_HEADERS, ...bearer(TEAM), "x-api-key": ANNA }, undefined, weir))
      .status,
  ).toBe(200);
});
