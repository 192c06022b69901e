/** Many calls at once: one budget for all credentials of a person, and keys of an issuer that change meanwhile. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chatHost } from "../../../../test/helpers/gateway.ts";
import { freePort, type Serving, serve } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { Issuer, SigningKey } from "./support/issuer.ts";

setDefaultTimeout(180_000);

const KEY = "weir-planted-key-000001";
const CALLS = 10_000;
/** Of a call, by its usage and the prices below. Dollars. */
const COST = 0.01;
const LIMIT = 0.5;
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

let upstream: Upstream;
let issuer: Issuer;
let gateway: Serving;

beforeAll(async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 };
  upstream = startUpstream(json({ ...CHAT_ANSWER, usage }));
  issuer = await Issuer.start("ES256");
  gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      ...chatHost(upstream.url),
      keys: [{ name: "alice", key: KEY, path: "/people/alice" }],
      prices: { "host/*": { input: 1_000, output: 0 } },
      budgets: { alice: { on: "/people/alice", every: "total", limit: LIMIT, mode: "hard" } },
      admin: { port: freePort() },
      identity: {
        url: "https://weir.corp.example",
        tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" },
        providers: { corp: { issuer: issuer.url, audience: "weir", groups: { users: { member: "/" } } } },
      },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
  upstream?.stop();
});

const tokenOf = (name: string, more: object = {}) =>
  issuer.token({ sub: name, email: `${name}@corp.example`, groups: ["users"], ...more });

async function ask(credential: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "host/some-model",
      max_tokens: 1,
      messages: [{ role: "user", content: "hi" }],
    }),
  });
  await answer.text();
  return answer.status;
}

test("key, token and weir's own token of a person share its hard budget: 400 calls at once never spend more", async () => {
  const token = await tokenOf("alice");
  const exchanged = await fetch(`${gateway.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      ...{ grant_type: EXCHANGE, subject_token: token },
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    }),
  });
  const { access_token: own } = (await exchanged.json()) as { access_token: string };
  const credentials = [KEY, token, own];
  const before = upstream.requests.length;
  const statuses: number[] = [];
  // The first round holds more than its calls cost, so some money is left for the next ones.
  for (let round = 0; round < 4; round++)
    statuses.push(...(await Promise.all(Array.from({ length: 400 }, (_, at) => ask(credentials[at % 3]!)))));
  const paid = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(upstream.requests.length - before).toBe(paid);
  expect(paid * COST).toBeLessThanOrEqual(LIMIT);
  expect(paid).toBeGreaterThan(0);
  for (const credential of credentials) {
    const one = await ask(credential);
    expect(one === 200 ? paid * COST + COST <= LIMIT + 1e-9 : one).toBe(one === 200 ? true : 429);
  }
  const listed = gateway.run("budgets", "list", "--json");
  expect([listed.code, listed.output]).toEqual([0, expect.stringContaining('"alice"')]);
  expect(await ask(await tokenOf("bob"))).toBe(200);
});

test("an issuer changes its keys while calls run, and is away then: no call fails", async () => {
  const names = Array.from({ length: 100 }, (_, at) => `person-${at}`);
  const old = await Promise.all(names.map((name) => tokenOf(name)));
  const fresh: string[] = [];
  let [next, failed] = [0, 0];
  const caller = async () => {
    while (next < CALLS) {
      const at = next++;
      const tokens = at % 2 === 1 && fresh.length > 0 ? fresh : old;
      if ((await ask(tokens[at % tokens.length]!)) !== 200) failed++;
    }
  };
  const change = async () => {
    while (next < CALLS / 4) await Bun.sleep(5);
    const second = await SigningKey.make("second", "ES256");
    issuer.keys.unshift(second);
    fresh.push(...(await Promise.all(names.map((name) => tokenOf(name, { jti: "second" })))));
    while (next < CALLS / 2) await Bun.sleep(5);
    issuer.published.status = 503;
    while (next < (CALLS * 3) / 4) await Bun.sleep(5);
    fresh.push(...(await Promise.all(names.map((name) => tokenOf(name, { jti: "third" })))));
  };
  await Promise.all([change(), ...Array.from({ length: 16 }, caller)]);
  expect(failed).toBe(0);
});
