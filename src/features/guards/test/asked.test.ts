/** What plugins ask other models for a call is guarded, and the client reads the values in what comes of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { EMAIL, provide, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

/** Answers by what another model says of the prompt, and of an address that it knows by itself. */
const PLUGIN = `
import { definePlugin } from "weir";
export default definePlugin({
  name: "asks",
  hooks: {
    async intercept(call) {
      if (call.model !== "p/asks") return undefined;
      const said = call.request.turns.at(-1).blocks[0].text;
      const { text } = await call.ask({ model: "p/m", prompt: "SAY " + said + " and bob@example.com of 5" });
      return { answer: text };
    },
  },
});
`;

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream((request) => provide(SPOKEN["chat-completions"]!, request));
  gateway = await startGateway({
    config: {
      providers: {
        p: {
          speaks: "chat-completions",
          baseUrl: `${upstream.url}/v1`,
          apiKey: "k-1234567",
          models: ["m", "asks"],
        },
      },
      guards: {
        pii: { find: ["email"], do: "replace" },
        cards: { find: ["card"], do: "block", on: ["output"] },
      },
    },
    plugins: { "asks.ts": PLUGIN },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function ask(content: string): Promise<{ status: number; text: string }> {
  const body: JsonObject = { model: "p/asks", messages: [{ role: "user", content }] };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

test("values of the prompt and of the plugin reach no provider, and come back", async () => {
  const { status, text } = await ask(`Write to ${EMAIL}`);
  expect([status, text]).toEqual([200, expect.stringContaining(`Write to ${EMAIL} and bob@example.com`)]);
  const seen = upstream.requests.map(({ body }) => body.toString()).join("\n");
  expect(seen).toMatch(/PII_EMAIL_\w+ and PII_EMAIL_\w+/);
  expect(seen).not.toContain("@example.com");
});
