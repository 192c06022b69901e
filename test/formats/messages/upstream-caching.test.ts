import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode } from "./make.ts";

const HAIKU = { model: "claude-haiku-4-5" };

describe("caching", () => {
  const mark = (ttl?: "5m" | "1h") => ({ cache: ttl ? { ttl } : {} });
  const text = (value: string, ttl?: "5m" | "1h") => ({ type: "text", text: value, ...mark(ttl) }) as const;
  const marks = (body: JsonObject) =>
    [...JSON.stringify(body).matchAll(/"cache_control":(\{[^}]*\})/g)].map(
      ([, found]) => JSON.parse(found!) as JsonObject,
    );

  test("marks on parts arrive", () => {
    const { body } = encode({ turns: [{ role: "user", blocks: [text("a", "1h")] }] }, HAIKU);
    expect(marks(body)).toEqual([{ type: "ephemeral", ttl: "1h" }]);
  });

  test("of more than four the last four stay, and none lives longer than those in front", () => {
    const blocks = ["a", "b", "c", "d", "e", "f"].map((value, index) =>
      text(value, index === 4 ? "1h" : undefined),
    );
    const { body } = encode({ turns: [{ role: "user", blocks }] }, HAIKU);
    expect(marks(body)).toEqual([
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral", ttl: "1h" },
      { type: "ephemeral" },
    ]);
    const first = (body.messages as JsonObject[])[0]!.content as JsonObject[];
    expect(first.slice(0, 2).some(({ cache_control }) => cache_control)).toBe(false);
  });

  test("as much as can be: one mark at the top where the provider takes it", () => {
    const { body } = encode({ cache: {} }, { ...HAIKU, traits: { topLevelCacheControl: true } });
    expect(body.cache_control).toEqual({ type: "ephemeral" });
    expect(marks(body)).toHaveLength(1);
    const four = ["a", "b", "c", "d"].map((value) => text(value));
    const own = encode(
      { cache: { ttl: "1h" }, turns: [{ role: "user", blocks: four }] },
      { ...HAIKU, format: "messages" },
    ).body;
    expect(marks(own)).toHaveLength(4);
    expect(own.cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  });

  test("elsewhere the last tool, the last system block and the user's last block", () => {
    const { body } = encode(
      {
        cache: {},
        tools: [
          { kind: "function", name: "f" },
          { kind: "function", name: "g" },
        ],
        turns: [
          { role: "system", blocks: [{ type: "text", text: "s" }] },
          {
            role: "user",
            blocks: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
      HAIKU,
    );
    expect(body).not.toHaveProperty("cache_control");
    expect((body.tools as JsonObject[]).map(({ cache_control }) => cache_control !== undefined)).toEqual([
      false,
      true,
    ]);
    expect((body.system as JsonObject[])[0]!.cache_control).toEqual({ type: "ephemeral" });
    expect(
      ((body.messages as JsonObject[])[0]!.content as JsonObject[]).map(
        ({ cache_control }) => cache_control !== undefined,
      ),
    ).toEqual([false, true]);
  });

  test("models of other vendors are not marked unasked", () => {
    expect(marks(encode({ cache: {} }, { model: "kimi-k3" }).body)).toEqual([]);
  });

  test("none on reasoning", () => {
    const turns: ChatRequest["turns"] = [
      { role: "user", blocks: [{ type: "text", text: "q" }] },
      { role: "assistant", blocks: [{ type: "reasoning", text: "r", signature: "S", origin: "anthropic" }] },
      { role: "user", blocks: [{ type: "text", text: "q" }] },
    ];
    const { body } = encode({ turns, cache: {} }, { model: "claude-opus-4-8" });
    expect((body.messages as JsonObject[])[1]!.content).toEqual([
      { type: "thinking", thinking: "r", signature: "S" },
    ]);
  });
});
