/** Guards of some models at requests that ask for no answer to a conversation. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { post, Servers } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();
const TEXT = "write to zoe@example.org";

test.each([
  ["/v1/rerank", "mock/rerank", { query: TEXT, documents: ["a", "b"] }],
  ["/v1/moderations", "mock/moderation", { input: TEXT }],
  ["/v1beta/interactions", "mock/chat", { input: TEXT }],
  [
    "/v1beta/interactions",
    "mock/chat",
    { input: [{ type: "user_input", content: [{ type: "text", text: TEXT }] }] },
  ],
  ["/v1beta/cachedContents", "mock/chat", { contents: [{ role: "user", parts: [{ text: TEXT }] }] }],
  ["/v1/embeddings", "mock/embed", { input: TEXT }],
  ["/v1/completions", "mock/echo", { prompt: TEXT }],
] as [string, string, JsonObject][])(
  "POST %s to %s is guarded by the guards of the model",
  async (path, model, body) => {
    const guarded = async (models: string[]) => {
      const gateway = await servers.gateway({
        mail: { find: ["email"], models, on: ["input"], do: "block" },
      });
      const response = await post(`${gateway.url}${path}`, { model, ...body });
      return { status: response.status, text: await response.text() };
    };
    const refused = await guarded([model]);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("blocked_by_guard")]);
    expect((await guarded(["mock/other"])).status).toBe(200);
  },
);
