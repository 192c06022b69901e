/** What weir would offer is explained, and nothing is called. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../../core/json.ts";
import { findTea, makeStage } from "./stage.ts";

const stage = makeStage();

const PRICES = { "*/m": { input: 1, output: 1 } };

test.each([
  ["chat-completions", { messages: [{ role: "user", content: "tea?" }] }],
  ["responses", { input: "tea?" }],
])("%s: the tools with their tokens and in the request", async (format, asked) => {
  const on = await stage(findTea, { config: { prices: PRICES } });
  const explain = async (tools: object[], headers: Record<string, string> = {}) => {
    const answer = await fetch(`${on.gateway.url}/v1/explain?format=${format}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: `${format}/m`, ...asked, ...(tools.length > 0 && { tools }) }),
    });
    return { status: answer.status, body: (await answer.json()) as JsonObject };
  };
  const shop = { type: "mcp", server_label: "shop", server_url: "weir/shop", require_approval: "always" };
  const { body } = await explain([shop]);
  const offered = { name: "shop__find", server: "shop", tokens: expect.any(Number), needs_approval: true };
  expect(body["plugins"]).toEqual({ bench: { tools: [offered], tokens: expect.any(Number) } });
  const { body: sent } = body["request"] as { body: { tools: object[] } };
  const input = ({ cost }: JsonObject) => (cost as { tokens: { input: number } }).tokens.input;
  expect(JSON.stringify(sent.tools)).toContain("Runs find.");
  expect(JSON.stringify(sent.tools)).not.toContain("mcp");
  const header = await explain([], { "x-weir-tools": "shop" });
  expect(JSON.stringify(header.body["request"])).toContain("Runs find.");
  const plain = await explain([]);
  expect(input(body) - input(plain.body)).toBe(
    (body["plugins"] as { bench: { tokens: number } }).bench.tokens,
  );
  expect(JSON.stringify(plain.body["request"])).not.toContain("Runs find.");
  expect(plain.body["plugins"]).toBeUndefined();
  expect((await explain([], { "x-weir-tools": "nosuch" })).status).toBe(400);
  expect([on.model.heard, on.bench.calls]).toEqual([[], []]);
});
