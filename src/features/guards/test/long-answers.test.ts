/** Streamed answers without an end, in front of guards that hold them as a whole: memory has a bound. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { streamedText } from "../../../../test/helpers/streamed.ts";
import { sse, startUpstream } from "../../../../test/helpers/upstream.ts";
import { patient } from "./patient.ts";

setDefaultTimeout(120_000);

const PIECE = `data: ${JSON.stringify({
  ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta: { content: "word ".repeat(100_000) } }],
})}\n\n`;
/** 40 MB. */
const upstream = startUpstream(sse(Array.from({ length: 80 }, () => PIECE)));
const service = Bun.serve({ port: 0, fetch: () => Response.json({ verdict: "pass" }) });

afterAll(() => {
  upstream.stop();
  service.stop(true);
});

for (const [name, guard] of Object.entries({
  "that finds": { find: ["email"], do: "mask", on: "output", mode: "hold" },
  "that asks": { webhook: `http://127.0.0.1:${service.port}`, do: "block", on: "output", mode: "hold" },
}))
  test(`a guard ${name} ends an answer that is too long to be held`, async () => {
    const gateway = await startGateway({
      config: {
        providers: { long: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, models: ["m"] } },
        guards: patient({ one: guard }),
      },
    });
    try {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "long/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
      });
      const text = await streamedText(response);
      expect(text).toContain("The answer is too long for a guard that holds it as a whole.");
      expect(text).not.toContain("[DONE]");
    } finally {
      await gateway.stop();
    }
  });
