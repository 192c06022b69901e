/** Calls with tokens over sockets: each place of a credential, SDKs, records, budgets, conflicts. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, until, type Upstream } from "../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { Issuer } from "./support/issuer.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-key-000001";
const PAID = "weir-planted-key-000002";
let upstream: Upstream;
let issuer: Issuer;
let ci: Issuer;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(json(CHAT_ANSWER));
  [issuer, ci] = await Promise.all([Issuer.start("RS256"), Issuer.start("ES256")]);
  gateway = await startGateway({
    config: {
      ...chatHost(upstream.url),
      log: { format: "json" },
      keys: [
        { name: "team", key: KEY },
        { name: "paid", key: PAID, path: "/paid" },
      ],
      prices: { "host/*": { input: 100, output: 1_000 } },
      budgets: {
        ci: { on: "/ci", every: "total", limit: 0.02 },
        paid: { on: "/paid", every: "total", limit: 0.02 },
      },
      rates: { people: { on: "/people/slow", rpm: 1 } },
      identity: {
        providers: {
          okta: {
            issuer: issuer.url,
            audience: "weir",
            groups: { "team-*": { member: "/teams/{1}" }, readers: { viewer: "/" } },
            scopes: { models: ["host/some-model"] },
          },
        },
        jwt: [{ issuer: ci.url, audience: "weir", path: "/ci/{repository}", name: "ci" }],
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.stop(), ci.stop()]);
  upstream.stop();
});

const ROUTES: Readonly<Record<string, object>> = {
  "/v1/chat/completions": { model: "host/some-model", messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { model: "host/some-model", max_tokens: 5, messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { model: "host/some-model", input: "hi" },
  "/v1beta/models/host/some-model:generateContent": { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  "/api/chat": { model: "host/some-model", stream: false, messages: [{ role: "user", content: "hi" }] },
};

async function ask(headers: Record<string, string>, path = "/v1/chat/completions", body = ROUTES[path]!) {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const alice = (more: object = {}) =>
  issuer.token({ sub: "alice-1", name: "Alice", groups: ["team-search"], ...more });

test("each format takes a token in each of its places", async () => {
  const token = await alice();
  for (const path of Object.keys(ROUTES)) {
    expect([path, (await ask(bearer(token), path)).status]).toEqual([path, 200]);
    const second = path.startsWith("/v1beta") ? "x-goog-api-key" : "x-api-key";
    expect([path, (await ask({ [second]: token }, path)).status]).toEqual([path, 200]);
    expect([path, (await ask({}, path)).status]).toEqual([path, 401]);
    expect([path, (await ask(bearer(`${token}x`), path)).status]).toEqual([path, 401]);
  }
});

test("the SDKs of OpenAI and Anthropic call with a token, and their errors have their classes", async () => {
  const openai = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 2 });
  const anthropic = (authToken: string) =>
    new Anthropic({ authToken, apiKey: null, baseURL: gateway.url, maxRetries: 2 });
  const token = await alice();
  const chat = { model: "host/some-model", messages: [{ role: "user" as const, content: "hi" }] };
  expect((await openai(token).chat.completions.create(chat)).choices[0]!.message.content).toBe("hello");
  const message = await anthropic(token).messages.create({ ...chat, max_tokens: 10 });
  expect(message.content[0]).toMatchObject({ type: "text", text: "hello" });
  const viaKey = new Anthropic({ apiKey: token, baseURL: gateway.url });
  expect((await viaKey.messages.create({ ...chat, max_tokens: 10 })).stop_reason).toBe("end_turn");

  const old = await alice({ exp: Math.floor(Date.now() / 1_000) - 5 });
  const refused = await openai(old)
    .chat.completions.create(chat)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.AuthenticationError);
  expect((refused as InstanceType<typeof OpenAI.AuthenticationError>).code).toBe("token_expired");
  const unknown = await anthropic(await alice({ groups: ["readers"] }))
    .messages.create({ ...chat, max_tokens: 10 })
    .catch((error: unknown) => error);
  expect(unknown).toBeInstanceOf(Anthropic.PermissionDeniedError);
  expect(String(unknown)).toContain("no group that may use models");
});

test("a refused token has the challenge of RFC 6750, and says nothing else", async () => {
  const { status, headers, body } = await ask(bearer(await alice({ aud: "other" })));
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(headers.get("x-should-retry")).toBe("false");
  expect(body.error).toMatchObject({ code: "invalid_token" });
  expect(JSON.stringify(body)).not.toContain("other");
  const sentence = 'a token of okta was refused: its aud is \\"other\\", expected [\\"weir\\"]';
  await until(
    () => gateway.log.some((line) => line.includes(sentence)),
    5_000,
    () => gateway.log.join("\n"),
  );
});

test("groups decide who may use models, and scopes which", async () => {
  expect((await ask(bearer(await alice({ groups: ["nobody"] })))).body.error.code).toBe("person_unknown");
  expect((await ask(bearer(await alice({ groups: undefined })))).body.error.code).toBe("person_unknown");
  expect((await ask(bearer(await alice({ groups: "x, team-a" })))).status).toBe(200);
  expect((await ask(bearer(await alice({ hasgroups: true, groups: undefined })))).status).toBe(401);
  const other = { model: "host/other", messages: [{ role: "user", content: "hi" }] };
  expect((await ask(bearer(await alice()), "/v1/chat/completions", other)).body.error.code).toBe(
    "model_not_allowed",
  );
});

test("budgets and rate limits on the path of a person or job count its calls, as they count those of a key", async () => {
  const statuses = async (credential: (index: number) => Promise<string> | string) => {
    const found: number[] = [];
    for (let index = 0; index < 6; index++) found.push((await ask(bearer(await credential(index)))).status);
    return found;
  };
  const ofKey = await statuses(() => PAID);
  const ofJobs = await statuses((index) =>
    ci.token({ sub: `job ${index % 2}`, repository: `corp/app${index % 2}` }),
  );
  expect(ofJobs).toEqual(ofKey);
  expect(new Set(ofJobs)).toEqual(new Set([200, 429]));
  const slow = (jti: string) => alice({ sub: "slow", email: "slow@corp.example", jti });
  expect((await ask(bearer(await slow("1")))).status).toBe(200);
  expect((await ask(bearer(await slow("2")))).status).toBe(429);
});

test("two credentials of two callers are a conflict; there is no way from a bad token to a key", async () => {
  const token = await alice();
  const other = await alice({ sub: "bob-1" });
  expect((await ask({ ...bearer(token), "x-api-key": token })).status).toBe(200);
  expect((await ask({ ...bearer(token), "x-api-key": await alice({ jti: "again" }) })).status).toBe(200);
  expect((await ask({ ...bearer(token), "x-api-key": other })).body.error.code).toBe(
    "conflicting_credentials",
  );
  expect((await ask({ ...bearer(token), "x-api-key": KEY })).body.error.code).toBe("conflicting_credentials");
  expect((await ask({ ...bearer(`${token}x`), "x-api-key": KEY })).status).toBe(401);
  expect((await ask(bearer(KEY))).status).toBe(200);
});

test("a thousand tokens with the same beginning are a thousand people", async () => {
  const people = Array.from({ length: 1_000 }, (_, index) => `person ${index}`);
  const tokens = await Promise.all(
    people.map((name) => ci.token({ repository: "corp/many", name, sub: name })),
  );
  expect(new Set(tokens.map((token) => token.slice(0, 100))).size).toBe(1);
  const wrong: string[] = [];
  for (let round = 0; round < 2; round++)
    for (const [index, token] of tokens.entries()) {
      const own = await fetch(`${gateway.url}/v1/key`, { headers: bearer(token) });
      const { name } = (await own.json()) as { name: string };
      if (name !== people[index]) wrong.push(`${people[index]} is ${name}`);
    }
  expect(wrong).toEqual([]);
});

test("GET /v1/models lists what a token may use", async () => {
  const token = await alice();
  const models = await fetch(`${gateway.url}/v1/models`, { headers: bearer(token) });
  expect(((await models.json()) as any).data.map(({ id }: { id: string }) => id)).toEqual(["some-model"]);
  const own = await fetch(`${gateway.url}/v1/key`, { headers: bearer(token) });
  expect(own.status).toBe(200);
});
