/** Explicit caches by Google's SDK, at a fake of Google with two accounts and at the mock. */
import { GoogleGenAI } from "@google/genai";
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { bodyOf, type Google, KEPT_TOKENS, startGoogle } from "../helpers/google-caches.ts";
import { budget } from "../helpers/ledger.ts";
import { seeError } from "../helpers/sdk.ts";

setDefaultTimeout(60_000);

const KEYS = { ann: "weir-key-of-ann-0123456789", bob: "weir-key-of-bob-0123456789" };
/** Dollars for a million tokens, and for a token and an hour. */
const PRICE = { input: 1, cacheRead: 0.1, output: 10, units: { cached_token_hour: 0.000001 } };
/** Nano-dollars. */
const INPUT = 1_000;
const TOKEN_HOUR = 1_000;

const clientOf = (url: string, apiKey: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url }, vertexai: false });

const contents = [{ role: "user", parts: [{ text: "A long book about a red cat." }] }];

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function configOf(google: Google, more: object = {}) {
  const deployments = ["one", "two"].map((name) => ({ name, apiKey: `key-of-account-${name}` }));
  return {
    providers: { gemini: { baseUrl: google.url, deployments } },
    aliases: { library: "gemini/gemini-2.5-flash" },
    prices: { "gemini/gemini-2.5-flash": PRICE },
    ...more,
  };
}

describe("with two keys", () => {
  let google: Google;
  let gateway: BookedGateway;
  let ann: GoogleGenAI;
  let bob: GoogleGenAI;

  beforeAll(async () => {
    google = startGoogle();
    const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
    gateway = await startBooked(configOf(google, { keys }));
    ann = clientOf(gateway.url, KEYS.ann);
    bob = clientOf(gateway.url, KEYS.bob);
  });
  afterAll(async () => {
    await gateway.stop();
    google.stop();
  });

  const make = (client: GoogleGenAI, model = "library") =>
    client.caches.create({ model, config: { contents, ttl: "300s", displayName: "book" } });

  test("an alias is resolved, and Google gets the rest of the client's bytes", async () => {
    const made = await make(ann);
    expect(made).toMatchObject({ displayName: "book", usageMetadata: { totalTokenCount: KEPT_TOKENS } });
    const { path, method, body } = google.requests.at(-1)!;
    expect([method, path]).toEqual(["POST", "/v1beta/cachedContents"]);
    const sent = bodyOf({ body } as never);
    expect(sent).toEqual({ model: "models/gemini-2.5-flash", contents, ttl: "300s", displayName: "book" });
  });

  test("requests that name it go to the account that has it, each time", async () => {
    for (let round = 0; round < 6; round++) {
      const { name } = await make(ann);
      const ask = () =>
        ann.models.generateContent({ model: "library", contents: "Who?", config: { cachedContent: name! } });
      for (let time = 0; time < 3; time++) {
        const { usageMetadata } = await ask();
        expect(usageMetadata?.cachedContentTokenCount).toBe(KEPT_TOKENS);
      }
      expect(await ann.caches.get({ name: name! })).toMatchObject({ name });
    }
    const accounts = new Set([...google.kept.keys()].map((key) => key.split(" ")[0]));
    expect(accounts.size).toBe(2);
  });

  test("another key does not find it, by no operation, and Google is not asked", async () => {
    const { name } = await make(ann);
    const before = google.requests.length;
    const attempts = [
      () => bob.caches.get({ name: name! }),
      () => bob.caches.update({ name: name!, config: { ttl: "900s" } }),
      () => bob.caches.delete({ name: name! }),
      () =>
        bob.models.generateContent({ model: "library", contents: "Who?", config: { cachedContent: name! } }),
    ];
    // A key must not learn how long another one's contents are.
    const count = { generateContentRequest: { model: "models/library", contents, cachedContent: name } };
    for (const body of [count, { contents, cachedContent: name }]) {
      const counted = await post(gateway.url, "models/library:countTokens", body, KEYS.bob);
      expect(counted.status).toBe(404);
    }
    for (const attempt of attempts) {
      const error = await seeError(attempt);
      expect([error.status, error.message]).toEqual([404, expect.stringContaining("NOT_FOUND")]);
    }
    expect(google.requests.length).toBe(before);
    expect(await listed(bob)).toEqual([]);
    expect(await ann.caches.get({ name: name! })).toMatchObject({ name });
  });

  test("a list has the caller's own, page by page", async () => {
    const names = new Set(await listed(ann));
    const { name } = await make(ann);
    const all = await listed(ann);
    expect(new Set(all)).toEqual(names.add(name!));
    expect(all.length).toBe(names.size);
  });

  test("a request for a model that is not the cache's is refused, and no other provider is asked", async () => {
    const { name } = await make(ann);
    const before = google.requests.length;
    for (const model of ["gemini-2.5-pro", "mock/chat"]) {
      const ask = () =>
        ann.models.generateContent({ model, contents: "Who?", config: { cachedContent: name! } });
      const error = await seeError(ask);
      expect([error.status, error.message]).toEqual([400, expect.stringContaining("is kept at gemini/")]);
    }
    expect(google.requests.length).toBe(before);
  });

  test("a change of the time reaches Google, and what is deleted is gone", async () => {
    const { name, expireTime } = await make(ann);
    const updated = await ann.caches.update({ name: name!, config: { ttl: "7200s" } });
    expect(Date.parse(updated.expireTime!)).toBeGreaterThan(Date.parse(expireTime!) + 6_000_000);
    expect(google.requests.at(-1)!.method).toBe("PATCH");
    await ann.caches.delete({ name: name! });
    expect((await seeError(() => ann.caches.get({ name: name! }))).status).toBe(404);
    expect(await listed(ann)).not.toContain(name);
    expect([...google.kept.keys()].some((key) => key.endsWith(name!))).toBe(false);
  });

  test.each([
    [{ contents }, "model"],
    [{ model: "library" }, "contents"],
    [{ model: "library", contents, ttl: "5 minutes" }, "ttl"],
    [{ model: "library", contents, expireTime: "2020-01-01T00:00:00Z" }, "expireTime"],
    [{ model: "library", contents, ttl: "60s", expireTime: "2099-01-01T00:00:00Z" }, "ttl"],
  ])("%j is refused in the words of Google", async (body, member) => {
    const response = await post(gateway.url, "cachedContents", body, KEYS.ann);
    const { error } = (await response.json()) as { error: { status: string; message: string } };
    expect([response.status, error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(member);
  });
});

function post(url: string, path: string, body: object, key: string): Promise<Response> {
  return fetch(`${url}/v1beta/${path}`, {
    ...{ method: "POST", body: JSON.stringify(body) },
    headers: { "content-type": "application/json", "x-goog-api-key": key },
  });
}

async function listed(client: GoogleGenAI): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await client.caches.list({ config: { pageSize: 2 } })) names.push(name!);
  return names;
}

test("what is made, prolonged and read costs what the book says", async () => {
  const google = startGoogle();
  const gateway = await startBooked(configOf(google));
  stops.push(gateway.stop, google.stop);
  const client = clientOf(gateway.url, "unused");
  const { name } = await client.caches.create({ model: "library", config: { contents, ttl: "1800s" } });
  await client.caches.update({ name: name!, config: { ttl: "5400s" } });
  await client.caches.get({ name: name! });
  await client.models.generateContent({
    model: "library",
    contents: "Who?",
    config: { cachedContent: name! },
  });
  await client.caches.update({ name: name!, config: { ttl: "60s" } });
  await client.caches.delete({ name: name! });
  const { calls } = await gateway.finish();
  const [made, prolonged, read, asked, shortened, deleted] = calls.map(({ cost }) => cost);
  // 4,000 tokens, and half an hour of each.
  expect(made).toBe(KEPT_TOKENS * INPUT + 2_000 * TOKEN_HOUR);
  // One hour more, without the moment that passed.
  expect(prolonged).toBeGreaterThanOrEqual(KEPT_TOKENS * TOKEN_HOUR);
  expect(prolonged).toBeLessThan((KEPT_TOKENS + 40) * TOKEN_HOUR);
  expect([read, shortened, deleted]).toEqual([0, 0, 0]);
  // 10 fresh tokens, 4,000 from the cache at a tenth, 5 of output.
  expect(asked).toBe(10 * 1_000 + KEPT_TOKENS * 100 + 5 * 10_000);
  expect(CHARGE_STATES[calls[0]!.state]).toBe("metered");
});

test("a hard budget is never over, however many are made at once", async () => {
  const google = startGoogle();
  google.delayMs = 20;
  const each = KEPT_TOKENS * INPUT + 2_000 * TOKEN_HOUR;
  const gateway = await startBooked(configOf(google), [budget("all", 10 * each)]);
  stops.push(gateway.stop, google.stop);
  const text = "word ".repeat(KEPT_TOKENS);
  const client = clientOf(gateway.url, "unused");
  const make = () => client.caches.create({ model: "library", config: { contents: text, ttl: "1800s" } });
  const made = await Promise.allSettled(Array.from({ length: 40 }, make));
  const served = made.filter(({ status }) => status === "fulfilled").length;
  expect(served).toBeGreaterThan(0);
  expect(served).toBeLessThanOrEqual(10);
  expect(google.kept.size).toBe(served);
  const { spent } = await gateway.finish();
  expect(spent.get(budgetAccount("all", 0))).toBe(served * each);
});

test("a hard budget refuses what has no price by the hour", async () => {
  const google = startGoogle();
  const prices = { "gemini/gemini-2.5-flash": { input: 1, cacheRead: 0.1, output: 10 } };
  const gateway = await startBooked(configOf(google, { prices }), [budget("all", 1_000_000_000)]);
  stops.push(gateway.stop, google.stop);
  const client = clientOf(gateway.url, "unused");
  const error = await seeError(() => client.caches.create({ model: "library", config: { contents } }));
  expect(error.message).toContain("cached_token_hour");
  expect(google.requests.length).toBe(0);
});

test("the mock keeps contents, and reads them", async () => {
  const gateway = await startBooked({});
  stops.push(gateway.stop);
  const client = clientOf(gateway.url, "unused");
  const { name, usageMetadata } = await client.caches.create({ model: "mock/chat", config: { contents } });
  expect(usageMetadata!.totalTokenCount).toBeGreaterThan(5);
  const answer = await client.models.generateContent({
    ...{ model: "mock/chat", contents: "Who?", config: { cachedContent: name! } },
  });
  expect(answer.usageMetadata?.cachedContentTokenCount).toBe(usageMetadata!.totalTokenCount!);
  await client.caches.update({ name: name!, config: { ttl: "60s" } });
  expect(await listed(client)).toEqual([name!]);
  await client.caches.delete({ name: name! });
  expect((await seeError(() => client.caches.get({ name: name! }))).status).toBe(404);
});
