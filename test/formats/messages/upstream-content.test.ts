import { describe, expect, test } from "bun:test";
import type { Block, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode, failure } from "./make.ts";
import { assistant, messagesOf, text, user, wireText } from "./turns.ts";

describe("content", () => {
  const one = (block: Block, options?: Parameters<typeof encode>[1]) => {
    const { messages, losses } = messagesOf([user(text("see"), block)], options);
    return { wire: (messages[0]!.content as JsonObject[])[1], losses };
  };
  const png = Buffer.from("\x89PNG\r\n\x1a\n....", "latin1").toString("base64");

  test("the bytes tell the type", () => {
    expect(
      one({ type: "image", source: { type: "base64", mediaType: "image/jpg", data: png } }).wire,
    ).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png },
    });
    expect(
      one({ type: "image", source: { type: "base64", mediaType: "image/jpg", data: "AAAA" } }).wire,
    ).toMatchObject({
      source: { media_type: "image/jpeg" },
    });
  });

  test("public https goes as a URL, the rest is refused", async () => {
    const at = (url: string): Block => ({ type: "image", source: { type: "url", url }, detail: "high" });
    expect(one(at("https://example.com/a.png"))).toEqual({
      wire: { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      losses: [],
    });
    for (const url of [
      "http://example.com/a.png",
      "https://localhost/a",
      "https://10.0.0.1/a",
      "https://[::1]/a",
      "https://intranet/a",
      "ftp://x.org/a",
      "x",
    ])
      expect(await failure(() => one(at(url)))).toMatchObject({
        kind: "invalid-request",
        param: "messages[0].content[1]",
      });
  });

  test("images of other kinds are refused", async () => {
    const tiff: Block = { type: "image", source: { type: "base64", mediaType: "image/tiff", data: "AAAA" } };
    expect((await failure(() => one(tiff))).message).toContain("unsupported image type image/tiff");
  });

  test("a provider without images gets a word instead, and it is told", () => {
    const told = one(
      { type: "image", source: { type: "base64", mediaType: "image/png", data: png } },
      { traits: { images: false } },
    );
    expect(told).toEqual({ wire: wireText("[image omitted]"), losses: ["dropped:messages[0].content[1]"] });
  });

  test("PDF and text documents; other files are refused", async () => {
    const file = (mediaType: string, data: string): Block => ({
      type: "document",
      source: { type: "base64", mediaType, data },
      title: "a",
    });
    expect(
      one(file("application/octet-stream", Buffer.from("%PDF-1.7").toString("base64"))).wire,
    ).toMatchObject({
      type: "document",
      title: "a",
      source: { type: "base64", media_type: "application/pdf" },
    });
    expect(one(file("text/csv", Buffer.from("a,b").toString("base64"))).wire).toEqual({
      type: "document",
      title: "a",
      source: { type: "text", media_type: "text/plain", data: "a,b" },
    });
    expect((await failure(() => one(file("application/zip", "AAAA")))).message).toContain(
      "unsupported file type application/zip",
    );
  });

  test("ids of another vendor's files, and audio, are refused", async () => {
    const file: Block = { type: "document", source: { type: "file", id: "file-1" } };
    expect(await failure(() => one(file))).toMatchObject({
      kind: "invalid-request",
      code: "unsupported_value",
      param: "messages[0].content[1]",
    });
    expect(one(file, { format: "messages" }).wire).toEqual({
      type: "document",
      source: { type: "file", file_id: "file-1" },
    });
    expect((await failure(() => one({ type: "audio", data: "", format: "wav" }))).kind).toBe(
      "invalid-request",
    );
  });

  test("citations are asked for, except where a schema excludes them", () => {
    const source = { type: "text", mediaType: "text/plain", text: "x" } as const;
    const document: Block = { type: "document", source, citations: true };
    expect(one(document).wire).toMatchObject({ citations: { enabled: true } });
    const { body, losses } = encode({
      turns: [user(document)],
      answerFormat: {
        type: "json-schema",
        schema: { type: "object", properties: {}, additionalProperties: false },
      },
    });
    expect(JSON.stringify(body)).not.toContain("citations");
    expect(losses).toEqual(["dropped:messages[0].content[0].citations"]);
  });

  test("blocks of another format: their reading, or a refusal", () => {
    expect(one({ type: "foreign", format: "chat-completions", value: {}, text: "said" })).toEqual({
      wire: wireText("said"),
      losses: ["converted:messages[0].content[1]"],
    });
    expect(() => one({ type: "foreign", format: "chat-completions", value: {} })).toThrow(
      "messages[0].content[1]: weir cannot translate content of type unknown",
    );
  });
});

describe("reasoning in the history", () => {
  const history = (block: Block): Turn[] => [user(text("q")), assistant(block, text("a")), user(text("go"))];
  const sent = (block: Block, options: Parameters<typeof encode>[1] = { model: "claude-opus-4-8" }) => {
    const { messages, losses } = messagesOf(history(block), options);
    return { blocks: (messages[1]!.content as JsonObject[]).slice(0, -1), losses };
  };
  const reasoning = (parts: Partial<Block>): Block => ({ type: "reasoning", text: "r", ...parts }) as Block;

  test("Anthropic's own goes back unchanged", () => {
    expect(sent(reasoning({ signature: "S", origin: "anthropic" })).blocks).toEqual([
      { type: "thinking", thinking: "r", signature: "S" },
    ]);
    expect(sent(reasoning({ text: "", signature: "S", origin: "anthropic" })).blocks).toEqual([
      { type: "thinking", thinking: "", signature: "S" },
    ]);
    expect(sent(reasoning({ text: "", redacted: "R", origin: "anthropic" })).blocks).toEqual([
      { type: "redacted_thinking", data: "R" },
    ]);
  });

  test("another vendor's never arrives, with or without signature, and it is told", () => {
    for (const parts of [
      { signature: "S", origin: "gemini" },
      { text: "", redacted: "R", origin: "openai" },
      {},
    ])
      expect(sent(reasoning(parts))).toEqual({ blocks: [], losses: ["dropped:messages[1]"] });
  });

  test("a provider that signs by itself in this format gets its own back and no other's", () => {
    const kimi = { model: "kimi-k3", provider: "moonshot" };
    expect(sent(reasoning({ signature: "S", origin: "moonshot" }), kimi).blocks).toHaveLength(1);
    expect(sent(reasoning({ signature: "S", origin: "anthropic" }), kimi).blocks).toHaveLength(0);
  });

  test("unsigned text goes only where it is wanted", () => {
    const model = "kimi-k3";
    expect(sent(reasoning({}), { model, traits: { reasoningReplay: "required" } }).blocks).toEqual([
      { type: "thinking", thinking: "r", signature: "" },
    ]);
    expect(sent(reasoning({}), { model }).blocks).toEqual([]);
    expect(
      sent(reasoning({}), { model: "claude-opus-4-8", traits: { reasoningReplay: "required" } }).blocks,
    ).toEqual([]);
  });
});
