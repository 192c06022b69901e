/** What the SDKs do by themselves, through the gateway: their time limit, their repeats, and what tells them not to. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, type ClientOptions, openaiClient, seeError } from "../helpers/sdk.ts";
import { type Answer, json, silence, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

const start = () =>
  startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });

/** A gateway that remembers no failures. */
async function restart(): Promise<void> {
  await gateway.stop();
  gateway = await start();
}

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await start();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

interface Dialect {
  name: string;
  path: string;
  call(options: ClientOptions): Promise<{ id: string }>;
  answer: Answer;
  error(message: string, code: string): object;
}

const messages = [{ role: "user" as const, content: "go" }];

const DIALECTS: readonly Dialect[] = [
  {
    name: "openai",
    path: "/v1/chat/completions",
    call: (options) =>
      openaiClient(gateway.url, options).chat.completions.create({ model: "openai/m", messages }),
    answer: json({ id: "whole", object: "chat.completion", created: 1, model: "m", choices: [] }),
    error: (message, code) => ({ error: { message, type: "some_error", param: null, code } }),
  },
  {
    name: "anthropic",
    path: "/v1/messages",
    call: (options) =>
      anthropicClient(gateway.url, options).messages.create({
        model: "anthropic/m",
        max_tokens: 9,
        messages,
      }),
    answer: json({
      id: "whole",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    error: (message) => ({ type: "error", error: { type: "some_error", message } }),
  },
];

/** Answers the first request with `first` and later ones with `then`; says how many came since. */
function answerOnce(first: Answer, then: Answer): () => number {
  const before = upstream.requests.length;
  let count = 0;
  upstream.answer(() => (count++ === 0 ? first : then));
  return () => upstream.requests.length - before;
}

for (const { name, path, call, answer, error } of DIALECTS) {
  describe(name, () => {
    test("its own time limit is typed, and stops the upstream", async () => {
      upstream.answer(silence);
      const seen = await seeError(() => call({ timeout: 150 }));
      expect(seen.class).toBe("APIConnectionTimeoutError");
      await upstream.quiet();
    });

    for (const status of [408, 409, 429, 500, 503, 529]) {
      test(`${status} is repeated when the upstream says when, and no more often than the SDK does it`, async () => {
        const refused = json(error("later", "slow_down"), status, { "retry-after-ms": "20" });
        const count = answerOnce(refused, answer);
        expect((await call({ maxRetries: 2 })).id).toBe("whole");
        expect(count()).toBe(2);
      });
    }

    test("x-should-retry: false is heard: one call, no more", async () => {
      const refused = json(error("spent", "insufficient_quota"), 429, { "x-should-retry": "false" });
      const count = answerOnce(refused, answer);
      expect((await seeError(() => call({ maxRetries: 2 }))).class).toBe("RateLimitError");
      expect(count()).toBe(1);
    });

    test("a request that is wrong is not repeated", async () => {
      const count = answerOnce(json(error("wrong", "invalid_value"), 400), answer);
      expect((await seeError(() => call({ maxRetries: 2 }))).status).toBe(400);
      expect(count()).toBe(1);
    });

    test("with one place to ask, an SDK repeats by itself, and nothing is multiplied", async () => {
      await restart();
      const before = upstream.requests.length;
      upstream.answer(() => json(error("down", "x"), 503));
      expect((await seeError(() => call({ maxRetries: 2 }))).status).toBeOneOf([503, 529]);
      expect(upstream.requests.length - before).toBe(3);
    }, 600_000);

    test("for any other client the gateway does, once", async () => {
      for (const status of [500, 502, 503, 529]) {
        await restart();
        const before = upstream.requests.length;
        upstream.answer(() => json(error("down", "x"), status));
        const response = await fetch(`${gateway.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: `${name}/m`, max_tokens: 9, messages }),
        });
        expect([response.status, response.headers.get("x-should-retry")]).toEqual([status, "false"]);
        expect(upstream.requests.length - before).toBe(2);
      }
    });

    test("what may have been answered already is not sent to the same place twice", async () => {
      for (const first of [
        { raw: [], ending: "rst" as const },
        { raw: ["HTTP/1.1 200 OK\r\n"], ending: "fin" as const },
      ]) {
        // On a kept connection it would look as if the request had crossed the upstream's farewell.
        upstream.stop();
        upstream = startUpstream(() => first);
        await restart();
        await seeError(() => call({}));
        expect(upstream.requests.length).toBe(1);
      }
    });
  });
}
