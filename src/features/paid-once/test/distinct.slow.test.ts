/** New questions beside kept answers to almost the same ones: none of them gets an answer that is not its own. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { ask, cut, gatedUpstream, noticed, WHOLE } from "../../../../test/helpers/cut-streams.ts";
import { chatHost, startGateway } from "../../../../test/helpers/gateway.ts";
import { IS_STRESS } from "../../../../test/helpers/effort.ts";

setDefaultTimeout(180_000);

const KEPT = 100;
/** Ten thousand in `bun run stress`. */
const QUESTIONS = IS_STRESS ? 10_000 : 2_000;
const AT_ONCE = 50;

type Headers = Record<string, string>;
const alice = { authorization: "Bearer alice-key-1234567890" };
const bob = { authorization: "Bearer bob-key-1234567890" };
const retry = (count: number): Headers => ({ "x-stainless-retry-count": String(count) });
const named = (name: string): Headers => ({ "idempotency-key": name });

/** What a new question has in common with a kept answer, whose prompt is given, and what not. */
const NEW: ((prompt: string, number: number) => [prompt: string, headers: Headers])[] = [
  (prompt) => [prompt, alice],
  (prompt) => [prompt, { ...bob, ...retry(1) }],
  (prompt) => [`${prompt.slice(0, -1)}${prompt.endsWith("x") ? "y" : "x"}`, { ...alice, ...retry(1) }],
  (prompt) => [prompt, { ...alice, ...retry(2) }],
  (prompt) => [prompt, { ...alice, ...retry(0) }],
  (prompt) => [prompt, { ...alice, ...retry(1), "user-agent": "another-sdk/1.0" }],
  (prompt) => [prompt, { ...alice, ...retry(1), "x-stainless-runtime-version": "v1.2.3" }],
  (prompt, number) => [prompt, { ...alice, ...retry(1), ...named(`new ${number}`) }],
  (prompt, number) => [prompt, { ...bob, ...named(`name of ${prompt} ${Math.floor(number / KEPT)}`) }],
];

test(`0 of ${QUESTIONS} distinct questions are merged, and each kept answer goes to its own repeat`, async () => {
  const upstream = gatedUpstream();
  const keys = [
    { name: "alice", key: alice.authorization.slice(7) },
    { name: "bob", key: bob.authorization.slice(7) },
  ];
  const gateway = await startGateway({
    config: { ...chatHost(upstream.url), keys, paidOnce: { enabled: true }, log: { level: "silent" } },
  });
  const prompts = Array.from({ length: KEPT }, (_, at) => `question ${at}, at 2`);
  const nameOf = (prompt: string, at: number): Headers => (at % 2 ? named(`name of ${prompt}`) : {});
  for (const [at, prompt] of prompts.entries())
    await cut(gateway.url, prompt, 2, { ...alice, ...nameOf(prompt, at) });
  await noticed();
  for (const prompt of prompts) upstream.release(prompt);
  await upstream.quiet();
  const before = upstream.requests.length;
  expect(before).toBe(KEPT);

  let asked = 0;
  const merged: string[] = [];
  const askSome = async () => {
    while (asked < QUESTIONS) {
      const number = asked++;
      const at = number % KEPT;
      const make = NEW[Math.floor(number / KEPT) % NEW.length]!;
      const [prompt, headers] = make(prompts[at]!, number);
      upstream.release(prompt);
      const response = await ask(gateway.url, prompt, headers);
      const text = await response.text();
      if (response.headers.has("x-weir-paid-once") || text !== WHOLE) merged.push(`${number}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askSome));
  expect(merged).toEqual([]);
  expect(upstream.requests.length).toBe(before + QUESTIONS);

  for (const [at, prompt] of prompts.entries()) {
    const headers = { ...alice, ...retry(1), ...nameOf(prompt, at) };
    const repeat = await ask(gateway.url, prompt, headers);
    expect(repeat.headers.get("x-weir-paid-once")).toBe("finished");
    expect(await repeat.text()).toBe(WHOLE);
  }
  expect(upstream.requests.length).toBe(before + QUESTIONS);
  await gateway.stop();
  upstream.stop();
});
