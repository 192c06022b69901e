/** Evaluators score texts by the log probabilities of a prompt that the host repeats: every byte of both ways counts. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../../src/ledger/charge.ts";
import { type BookedGateway, startBooked } from "../../helpers/books.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(60_000);

/** As vLLM and OpenAI write it: `null` for the first token, numbers that no other writer would write so, escapes. */
const ANSWER = `{"id": "cmpl-7", "object":"text_completion","created":1700000000,"model":"m","choices":[{"text":"caf\\u00e9 \u{1f600}","index":0,
 "logprobs":{"tokens":["caf","é"," \\ud83d\\ude00"],"token_logprobs":[null,-1.0e-05,-0.10000000149011612],
 "top_logprobs":[null,{"é":-1E-5,"e":-11.25},{" \\ud83d\\ude00":-0.1,"bytes:\\\\xf0":-3}],"text_offset":[0,3,5]},"finish_reason":"length",
 "stop_reason":null,"prompt_logprobs":null}],"usage":{"prompt_tokens":3,"total_tokens":3,"completion_tokens":0},"later":[1.50,{}]}\n`;

let upstream: Upstream;
let gateway: BookedGateway;

beforeAll(async () => {
  upstream = startUpstream(({ method }) =>
    method === "GET" ? json({ data: [] }) : { ...json({}), body: ANSWER },
  );
  gateway = await startBooked({
    providers: {
      host: { baseUrl: upstream.url, models: ["m"], does: { completion: { completions: "/completions" } } },
    },
    prices: { "host/m": { input: 1, output: 2 } },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

// What lm-eval sends for a text, and for token ids; and a spelling that no encoder writes.
test.each([
  `{"model": "host/m", "prompt": ["The caf\\u00e9 \u{1f600}"], "temperature": 0, "max_tokens": 0, "logprobs": 1, "seed": 1234, "echo": true}`,
  `{"prompt":[[464,40303,30325],[1]],"model":"host/m","temperature":0,"max_tokens":1,"logprobs":1,"seed":1234,"echo":true}`,
  `{ "echo":true,\n "logprobs" : 5, "max_tokens":0,"prompt":"\\u0041\\t", "logit_bias":{"50256":-1e2}, "later":1.0 , "model" : "host/m"}`,
  `{"model":"host/m","prompt":null,"echo":true,"logprobs":0,"max_tokens":0}`,
])("%s", async (body) => {
  const response = await fetch(`${gateway.url}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect([response.status, await response.text()]).toEqual([200, ANSWER]);
  expect(upstream.requests.at(-1)!.body.toString()).toBe(body.replace('"host/m"', '"m"'));
});

test("they are charged for what was read", async () => {
  const { calls } = await gateway.finish();
  expect(calls.map(({ cost, state }) => [cost, CHARGE_STATES[state]])).toEqual(
    Array.from({ length: 4 }, () => [3_000, "metered"]),
  );
});
