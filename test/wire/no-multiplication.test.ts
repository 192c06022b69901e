/** Whoever repeats a call, the gateway or its client: never both. */
import { describe, expect, test } from "bun:test";
import { answering, ask, failing, inOrder, makeStage, places } from "../helpers/places.ts";
import { anthropicClient, openaiClient, seeError } from "../helpers/sdk.ts";

const { upstream, gateway } = makeStage();

describe("nobody repeats what somebody else repeats", () => {
  const clients = [
    [
      "openai",
      (url: string) =>
        openaiClient(url, { maxRetries: 2 }).chat.completions.create({
          model: "openai/m",
          messages: [{ role: "user", content: "go" }],
        }),
    ],
    [
      "anthropic",
      (url: string) =>
        anthropicClient(url, { maxRetries: 2 }).messages.create({
          model: "openai/m",
          max_tokens: 9,
          messages: [{ role: "user", content: "go" }],
        }),
    ],
  ] as const;

  for (const [name, call] of clients)
    test(`${name}: a call that was tried in vain is not begun anew by the SDK`, async () => {
      const upstreams = [upstream(failing(503)), upstream(failing(500))];
      const running = await gateway({
        providers: places(
          upstreams.map(({ url }) => url),
          inOrder,
        ),
      });
      const { status } = await seeError(() => call(running.url));
      expect(status).toBeGreaterThanOrEqual(500);
      expect(upstreams.reduce((sum, { requests }) => sum + requests.length, 0)).toBeLessThanOrEqual(3);
    });

  test("a moment the upstream names is passed on instead", async () => {
    const running = await gateway({
      providers: places([upstream(failing(429, { "retry-after": "40" })).url]),
    });
    const { status, headers } = await ask(running);
    expect([status, headers.get("retry-after"), headers.get("x-should-retry")]).toEqual([429, "40", null]);
  });

  test("attempts: 1 leaves every repetition to the client", async () => {
    const one = upstream(failing(503));
    const running = await gateway({
      providers: places([one.url, upstream(answering).url], inOrder),
      retries: { attempts: 1 },
    });
    const { status, headers } = await ask(running);
    expect([status, one.requests.length, headers.get("x-should-retry")]).toEqual([503, 1, null]);
  });
});
