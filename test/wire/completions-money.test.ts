/** What completions hold and cost, and what a client that leaves costs. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { type Handler, json, sse, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const ALL = budgetAccount("all", 0);
/** Nano-dollars of a token of output at $2 a million. */
const OUTPUT = 2_000;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

async function start(handler: Handler, limit: number) {
  const upstream = startUpstream(handler);
  const host = {
    baseUrl: upstream.url,
    models: ["m"],
    does: { completion: { completions: "/completions" } },
  };
  const gateway = await startBooked({ providers: { host }, prices: { "host/m": { input: 1, output: 2 } } }, [
    budget("all", limit),
  ]);
  running.push(gateway, upstream);
  return { gateway, upstream, client: openaiClient(gateway.url, { maxRetries: 0 }) };
}

const answer = (output: number) =>
  json({
    ...{ id: "c", object: "text_completion", created: 1, model: "m" },
    choices: [{ index: 0, text: "x", logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: output, total_tokens: 10 + output },
  });

test.each([
  ["one prompt", { prompt: "a" }, 1],
  ["a list of prompts", { prompt: ["a", "b", "c", "d"] }, 4],
  ["best_of", { prompt: "a", best_of: 4 }, 4],
  ["prompts of token ids with n", { prompt: [[1], [2]], n: 2 }, 4],
  ["token ids of one prompt", { prompt: [1, 2, 3] }, 1],
])("%s is held for each text that the provider may write", async (_name, body, texts) => {
  // Room for three texts of a thousand tokens, and for input.
  const { client } = await start(() => answer(20), 3.5 * 1000 * OUTPUT);
  const asked = client.completions.create({ model: "host/m", max_tokens: 1000, ...body });
  const status = await asked.then(
    () => 200,
    (thrown: { status: number }) => thrown.status,
  );
  expect(status).toBe(texts > 3 ? 429 : 200);
});

test("a client that leaves ends the request of the provider, and its hold goes back", async () => {
  const chunk = (text: string) =>
    `data: ${JSON.stringify({ id: "c", object: "text_completion", created: 1, model: "m", choices: [{ index: 0, text, logprobs: null, finish_reason: null }] })}\n\n`;
  function* pieces() {
    for (let at = 0; at < 400; at++) {
      yield chunk("word ");
      yield { wait: 20 };
    }
  }
  const { client, upstream, gateway } = await start(() => sse(pieces()), 3000 * OUTPUT);
  const left = new AbortController();
  const stream = await client.completions.create(
    { model: "host/m", prompt: "a", max_tokens: 1000, stream: true },
    { signal: left.signal },
  );
  let seen = 0;
  let leftAt = 0;
  try {
    for await (const event of stream) {
      if (event.choices[0]?.text) seen++;
      if (seen === 3) {
        leftAt = performance.now();
        left.abort();
      }
    }
  } catch {
    // The SDK reports the abort.
  }
  await upstream.quiet();
  // The promise is 10 ms.
  expect(upstream.requests[0]!.settledAt! - leftAt).toBeLessThan(100);
  // All of the budget but what was generated is free again.
  upstream.answer(() => answer(5));
  const next = await client.completions.create({ model: "host/m", prompt: "b", max_tokens: 1200 });
  expect(next.choices[0]!.text).toBe("x");
  const { calls, spent } = await gateway.finish();
  expect(calls.map(({ state }) => CHARGE_STATES[state]!).toSorted()).toEqual(["estimated", "metered"]);
  expect(calls.reduce((sum, { cost }) => sum + cost, 0)).toBe(spent.get(ALL)!);
  const cut = calls.find(({ state }) => CHARGE_STATES[state] === "estimated")!;
  expect([cut.cost > 0, cut.output < 1000]).toEqual([true, true]);
});
