/** A long answer that a guard holds, of three minutes with `LONG_TESTS=1`: keep-alives come meanwhile, and no library of a vendor gives up. */
import { afterAll, expect, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { IS_LONG } from "../../../../test/helpers/effort.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { believes, LIBRARIES } from "../../../../test/helpers/guard-clients.ts";
import { json, sse, startUpstream } from "../../../../test/helpers/upstream.ts";

const SECONDS = IS_LONG ? 180 : 40;
const WORDS = Array.from({ length: SECONDS }, (_, at) => `word${at} `);

const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const upstream = startUpstream(() =>
  sse(
    (function* () {
      yield chunk({ role: "assistant", content: "" });
      for (const content of WORDS) {
        yield chunk({ content });
        yield { wait: 1_000 };
      }
      yield chunk({}, "stop");
      yield "data: [DONE]\n\n";
    })(),
  ),
);
const hook = startUpstream(() => json({ verdict: "pass" }));
const gateway = await startGateway({
  config: {
    guards: { asks: { webhook: hook.url, on: "output" } },
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
  },
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
  hook.stop();
});

/** Milliseconds of the longest silence. */
async function longestSilence(): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "p/m", stream: true, messages: [{ role: "user", content: "go" }] }),
  });
  let longest = 0;
  let heardAt = performance.now();
  for await (const _ of response.body!) {
    longest = Math.max(longest, performance.now() - heardAt);
    heardAt = performance.now();
  }
  return longest;
}

test(
  "programs get the whole answer, and something every 15 seconds",
  async () => {
    const [silence, ...believed] = await Promise.all([
      longestSilence(),
      ...LIBRARIES.map((library) => believes(library, gateway.url, "p/m", "go")),
    ]);
    expect(silence).toBeLessThan(15_000);
    for (const one of believed) expect(one).toEqual({ text: WORDS.join(""), isFinished: true });
  },
  (SECONDS + 60) * 1_000,
);
