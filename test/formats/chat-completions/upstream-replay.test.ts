import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { packMembers } from "../../../src/formats/chat-completions/reasoning.ts";
import { encode } from "./make.ts";
import { user, assistant, system, call, result } from "./turns.ts";

describe("reasoning of earlier turns", () => {
  const replay = (block: Block, traits: Traits, provider = "vendor") =>
    encode({ turns: [user("q"), assistant(block, "a"), user("r")] }, { traits, provider });

  test("plain text goes back only where the traits ask for it", () => {
    const block: Block = { type: "reasoning", text: "thought" };
    expect(replay(block, {}).messages[1]).toEqual({ role: "assistant", content: "a" });
    for (const reasoningReplay of ["required", "optional"] as const)
      expect(replay(block, { reasoningReplay }).messages[1]).toEqual({
        role: "assistant",
        content: "a",
        reasoning_content: "thought",
      });
  });

  test("what another provider made never leaves, signed or not", () => {
    const blocks: Block[] = [
      { type: "reasoning", text: "t", signature: "sig", origin: "anthropic" },
      { type: "reasoning", text: "", redacted: "enc", origin: "gemini" },
      { type: "reasoning", text: "t", origin: "deepseek" },
    ];
    for (const block of blocks) {
      const { body, losses } = replay(block, { reasoningReplay: "required" });
      expect(JSON.stringify(body)).not.toMatch(/sig|enc|reasoning/);
      expect(losses).toEqual(["dropped:messages[1].content[0]"]);
    }
  });

  test("the provider's own signature goes back with its text, or without any", () => {
    const members = packMembers({ signature: "sig", format: "anthropic-claude-v1" });
    const signed: Block = { type: "reasoning", text: "", signature: members, origin: "openrouter" };
    expect(replay(signed, {}, "openrouter").messages[1]).toEqual({
      role: "assistant",
      content: "a",
      reasoning_details: [
        { type: "reasoning.text", text: "", signature: "sig", format: "anthropic-claude-v1" },
      ],
    });
    const bare: Block = { type: "reasoning", text: "t", signature: "sig", origin: "openrouter" };
    expect(replay(bare, {}, "openrouter").messages[1]).toMatchObject({
      reasoning_content: "t",
      reasoning_details: [{ text: "t", signature: "sig" }],
    });
    const redacted: Block = {
      type: "reasoning",
      text: "",
      redacted: packMembers({ data: "enc", id: "r1" }),
      origin: "openrouter",
    };
    expect(replay(redacted, {}, "openrouter").messages[1]).toMatchObject({
      reasoning_details: [{ type: "reasoning.encrypted", data: "enc", id: "r1" }],
    });
  });

  test("Gemini's signature stands on its call again", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const turns = [
      user("q"),
      assistant({ type: "reasoning", text: "", signature: "sig", origin: "google" }, call("a"), call("b")),
      user(result("a", "1"), result("b", "2")),
    ];
    const [first, second] = encode({ turns }, { model: "google/gemini-3-pro" }).messages[1]!
      .tool_calls as JsonObject[];
    expect(first!.extra_content).toEqual(extra_content);
    expect(second).not.toHaveProperty("extra_content");
    expect(JSON.stringify(encode({ turns }, { model: "gpt-5.4" }).body)).not.toContain("sig");
  });
});

describe("cache marks", () => {
  const marked = (text: string, ttl?: "5m" | "1h"): Block => ({
    type: "text",
    text,
    cache: ttl ? { ttl } : {},
  });
  const options = { model: "gpt-5.6-sol" };

  test("they are written where the model knows them and vanish elsewhere", () => {
    const turns = [system(marked("A", "1h"), "B"), user(marked("C"))];
    expect(JSON.stringify(encode({ turns }, { model: "gpt-4o" }).body)).not.toMatch(/cache/);
    expect(encode({ turns }, options).messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "A", prompt_cache_breakpoint: { mode: "explicit", ttl: "30m" } },
          { type: "text", text: "B" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "C", prompt_cache_breakpoint: { mode: "explicit" } }] },
    ]);
  });

  test("of more than four the last four are kept", () => {
    const { messages } = encode(
      { turns: ["a", "b", "c", "d", "e", "f"].map((text) => user(marked(text))) },
      options,
    );
    const written = messages.map((message) => JSON.stringify(message).includes("breakpoint"));
    expect(written).toEqual([false, false, true, true, true, true]);
  });
});
