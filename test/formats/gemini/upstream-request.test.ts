/** What a provider of the format gets of a request. */
import { describe, expect, test } from "bun:test";
import type { Block, ChatRequest, Source } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { OWN_FIELDS } from "../../../src/formats/chat-completions/own-fields.ts";
import { assistant, call, encode, result, system, text, user } from "./make.ts";

const PNG = "iVBORw0KGgo=";
const GIF = Buffer.from("GIF89a000000").toString("base64");
const PDF = Buffer.from("%PDF-1.4").toString("base64");
const image = (source: Source): Block => ({ type: "image", source });
const bytes = (mediaType: string, data: string): Source => ({ type: "base64", mediaType, data });
const partsOf = (...blocks: Block[]) => encode({ turns: [user(...blocks)] }).contents[0]!.parts;
const config = (request: Partial<ChatRequest>, model?: string) =>
  encode(request, model === undefined ? {} : { model }).body["generationConfig"] as JsonObject | undefined;

describe("turns", () => {
  test("leading system turns are the system instruction, one part a block; later ones are text of the user", () => {
    const { body, contents } = encode({
      turns: [system("A", "B"), system("C"), user("q"), assistant("a"), system("D"), user("r")],
    });
    expect(body["systemInstruction"]).toEqual({ parts: [{ text: "A" }, { text: "B" }, { text: "C" }] });
    expect(contents.map(({ parts }) => parts)).toEqual([
      [{ text: "q" }],
      [{ text: "a" }],
      [{ text: "<system-reminder>\nD\n</system-reminder>" }, { text: "r" }],
    ]);
  });

  test("Gemma gets the system text at the beginning of the first content of the user", () => {
    const { body, contents } = encode({ turns: [system("A"), user("q")] }, { model: "gemma-3-27b-it" });
    expect(body).not.toHaveProperty("systemInstruction");
    expect(contents).toEqual([{ role: "user", parts: [{ text: "A" }, { text: "q" }] }]);
  });

  test("a conversation that begins or ends with the assistant gets a text of the user there, with a loss", () => {
    const { contents, losses } = encode({ turns: [assistant("a"), user("q"), assistant("b")] });
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user", "model", "user"]);
    expect(losses).toEqual(["synthesized:turns"]);
  });

  test("a call of a tool that another vendor ran is dropped from a turn of the assistant, with a loss", () => {
    const searched: Block = { type: "foreign", format: "responses", value: { type: "tool_search_call" } };
    const { contents, losses } = encode({ turns: [user("q"), assistant(searched, "a"), user("r")] });
    expect(contents[1]!.parts).toEqual([{ text: "a" }]);
    expect(losses).toEqual(["dropped:turns"]);
  });

  test("a request without content is refused", () => {
    expect(() => encode({ turns: [system("A")] })).toThrow("at least one message must have content");
  });

  test("the members have a fixed order", () => {
    const { body } = encode({
      turns: [system("A"), user("q")],
      tools: [{ kind: "function", name: "f" }],
      toolChoice: { type: "required" },
      maxTokens: 5,
      extra: { gemini: { safetySettings: [], labels: { a: "b" } } },
    });
    expect(Object.keys(body)).toEqual([
      "contents",
      "systemInstruction",
      "tools",
      "toolConfig",
      "safetySettings",
      "generationConfig",
      "labels",
    ]);
  });
});

describe("media", () => {
  test("image, PDF and audio are inline; the type follows the bytes", () => {
    const parts = partsOf(
      image(bytes("image/jpeg", PNG)),
      { type: "document", source: bytes("application/octet-stream", PDF), title: "Plan" },
      { type: "audio", data: "AAAA", format: "wav" },
    );
    expect(parts).toEqual([
      { inlineData: { mimeType: "image/png", data: PNG } },
      { text: "Plan" },
      { inlineData: { mimeType: "application/pdf", data: PDF } },
      { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
    ]);
  });

  test("a GIF is refused with its path", () => {
    const gif: Block = { ...image(bytes("image/png", GIF)), path: "messages[0].content[1]" } as Block;
    expect(() => partsOf(gif)).toThrow("messages[0].content[1]: unsupported image type image/gif");
  });

  test("AI Studio gets URLs of its own files and of YouTube only", () => {
    const own = "https://generativelanguage.googleapis.com/v1beta/files/abc";
    const video = "https://www.youtube.com/watch?v=1";
    for (const url of [own, video])
      expect(partsOf(image({ type: "url", url }))).toEqual([{ fileData: { fileUri: url } }]);
    for (const url of ["https://example.com/a.png", "gs://bucket/a.png", `https://example.com/?${own}`])
      expect(() => partsOf(image({ type: "url", url }))).toThrow("does not fetch this URL");
  });

  test("a host that fetches files gets public URLs and those of Cloud Storage, with a type", () => {
    const of = (url: string) =>
      encode({ turns: [user(image({ type: "url", url }))] }, { traits: { fileUrls: true } }).contents[0]!
        .parts[0];
    expect(of("https://example.com/a.PNG?x=1")).toEqual({
      fileData: { mimeType: "image/png", fileUri: "https://example.com/a.PNG?x=1" },
    });
    expect(of("gs://bucket/photo")).toEqual({
      fileData: { mimeType: "image/jpeg", fileUri: "gs://bucket/photo" },
    });
    expect(() => of("http://example.com/a.png")).toThrow("does not fetch this URL");
  });

  test("a host that wants a text beside media gets one, with a loss", () => {
    const turns = [user(image(bytes("image/png", PNG)))];
    const { contents, losses } = encode({ turns }, { traits: { textBesideMedia: true } });
    expect(contents[0]!.parts.map((part) => part["text"])).toEqual(["[image]", undefined]);
    expect(losses).toEqual(["synthesized:turns"]);
    expect(encode({ turns }).contents[0]!.parts).toHaveLength(1);
  });

  test("media of a result is inside the response for Gemini 3, and behind the responses for older models", () => {
    const turns = [
      user("q"),
      assistant(call("a"), call("b")),
      user(result("b"), result("a", [text("see"), image(bytes("image/png", PNG))]), "And now?"),
    ];
    const inline = { inlineData: { mimeType: "image/png", data: PNG } };
    const newer = encode({ turns }).contents;
    expect(newer[2]!.parts[0]).toEqual({
      functionResponse: { id: "a", name: "f", response: { output: "see" }, parts: [inline] },
    });
    expect(newer[3]!.parts).toEqual([{ text: "And now?" }]);
    const older = encode({ turns }, { model: "gemini-2.5-flash" }).contents;
    expect(older[2]!.parts[0]).toEqual({
      functionResponse: { id: "a", name: "f", response: { output: "see" } },
    });
    expect(older[3]!.parts).toEqual([{ text: "[media of the result of f]" }, inline, { text: "And now?" }]);
  });
});

describe("results", () => {
  test("text is the output, a JSON object its value, a failure the error", () => {
    const of = (block: Block) => {
      const { contents } = encode({ turns: [user("q"), assistant(call("a")), user(block)] });
      return (contents[2]!.parts[0]!["functionResponse"] as JsonObject)["response"];
    };
    expect(of(result("a", "12 degrees"))).toEqual({ output: "12 degrees" });
    expect(of(result("a", '{"degrees": 12}'))).toEqual({ output: { degrees: 12 } });
    expect(of(result("a", "[1]"))).toEqual({ output: "[1]" });
    expect(of(result("a", "no such city", true))).toEqual({ error: "no such city" });
  });

  test("missing, additional and repeated results are repaired, with losses", () => {
    const { contents, losses } = encode({
      turns: [
        user("q"),
        assistant(call("a"), call("b")),
        user(result("x", "lost"), result("a", "1"), result("a", "2")),
      ],
    });
    expect(contents[2]!.parts.map((part) => (part["functionResponse"] as JsonObject)["response"])).toEqual([
      { output: "2" },
      { error: "no result was provided" },
    ]);
    expect(contents[3]!.parts).toEqual([{ text: "[result of tool x] lost" }]);
    expect(losses.toSorted()).toEqual(["repaired:turns", "synthesized:turns"]);
  });

  test("arguments that are no object are repaired", () => {
    const argsOf = (input: string) => {
      const { contents, losses } = encode({
        turns: [user("q"), assistant(call("a", "f", input)), user(result("a"))],
      });
      const { args } = contents[1]!.parts[0]!["functionCall"] as JsonObject;
      return [args, losses.includes("repaired:turns")];
    };
    expect(argsOf("")).toEqual([{}, false]);
    expect(argsOf("[1]")).toEqual([{ value: [1] }, true]);
    expect(argsOf("no JSON")).toEqual([{ __invalid_json: "no JSON" }, true]);
  });
});

describe("ids of calls", () => {
  const turns = [
    user("q"),
    assistant(call("call_g_vcyiitct"), call("call_1"), call("call_g_vcyiitct")),
    user(result("call_g_vcyiitct"), result("call_1"), result("call_g_vcyiitct")),
  ];
  const idsIn = (callIds?: "always" | "echo") => {
    const { contents } = encode({ turns }, { traits: { callIds } });
    const ids = (at: number, member: string) =>
      contents[at]!.parts.map((part) => (part[member] as JsonObject)["id"]);
    expect(ids(2, "functionResponse")).toEqual(ids(1, "functionCall"));
    return ids(1, "functionCall");
  };

  test("a host that takes all ids gets Google's own ones back as they were", () => {
    expect(idsIn()).toEqual(["vcyiitct", "call_1", "vcyiitct_2"]);
  });

  test("a host that takes only its own ids gets no other", () => {
    expect(idsIn("echo")).toEqual(["vcyiitct", undefined, undefined]);
  });
});

describe("options", () => {
  test("sampling, limit and stop sequences are members of generationConfig", () => {
    expect(config({ temperature: 0.2, topP: 0.9, topK: 40, maxTokens: 100, stop: ["END"] })).toEqual({
      temperature: 0.2,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      stopSequences: ["END"],
    });
    expect(config({})).toBeUndefined();
  });

  test("values above the limits are clamped, with losses", () => {
    const { body, losses } = encode({ temperature: 3, maxTokens: 1e6 });
    expect(body["generationConfig"]).toEqual({ temperature: 2, maxOutputTokens: 65_536 });
    expect(losses).toEqual(["clamped:temperature", "clamped:maxTokens"]);
  });

  test("five stop sequences are sent", () => {
    expect(config({ stop: ["a", "b", "", "c", "d", "e", "f", "g"] })).toEqual({
      stopSequences: ["a", "b", "c", "d", "e"],
    });
  });

  test("a schema of the answer goes with its type; with tools, older models get it in the system instruction", () => {
    const schema = { type: "object", properties: { a: { const: 1 } } };
    const answerFormat = { type: "json-schema" as const, schema };
    const fields = {
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { enum: [1] } } },
    };
    const tools = [{ kind: "function" as const, name: "f" }];
    expect(config({ answerFormat }, "gemini-2.5-flash")).toEqual(fields);
    expect(config({ answerFormat, tools })).toEqual(fields);
    const { body, losses } = encode({ answerFormat, tools }, { model: "gemini-2.5-flash" });
    expect(body).not.toHaveProperty("generationConfig");
    expect(JSON.stringify(body["systemInstruction"])).toContain("fits this JSON schema");
    expect(losses).toEqual(["downgraded:answerFormat"]);
    expect(config({ answerFormat: { type: "json" } })).toEqual({ responseMimeType: "application/json" });
  });

  test("safety filters are switched off only where the provider says so; the client's settings win", () => {
    expect(encode({}).body).not.toHaveProperty("safetySettings");
    const off = encode({}, { traits: { safety: "off" } }).body["safetySettings"] as JsonObject[];
    expect(off.map(({ threshold }) => threshold)).toEqual(["OFF", "OFF", "OFF", "OFF", "OFF"]);
    const own = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }];
    const extra = { gemini: { safetySettings: own } };
    expect(encode({ extra }, { traits: { safety: "off" } }).body["safetySettings"]).toEqual(own);
  });

  test("a request for cached content gets no system instruction and no tools beside it", () => {
    const { body } = encode({ extra: { gemini: { cachedContent: "cachedContents/x" } } });
    expect(Object.keys(body)).toEqual(["contents", "cachedContent"]);
  });

  test("the client's own members of generationConfig and toolConfig are kept", () => {
    const { body } = encode({
      temperature: 1,
      tools: [{ kind: "function", name: "f" }],
      toolChoice: { type: "none" },
      extra: {
        gemini: {
          generationConfig: { seed: 7, presencePenalty: 0.5 },
          toolConfig: { retrievalConfig: { languageCode: "de" } },
        },
      },
    });
    expect(body["generationConfig"]).toEqual({ temperature: 1, seed: 7 });
    expect(body["toolConfig"]).toEqual({
      retrievalConfig: { languageCode: "de" },
      functionCallingConfig: { mode: "NONE" },
    });
  });

  test("seed and penalties of a chat-completions client are sent to models that take them", () => {
    const request = {
      extra: {
        "chat-completions": { seed: 7, presence_penalty: 0.5, frequency_penalty: 0, logit_bias: { "1": 2 } },
      },
      ownFields: { "chat-completions": OWN_FIELDS },
    };
    const older = encode(request, { model: "gemini-2.0-flash" });
    expect(older.body["generationConfig"]).toEqual({ seed: 7, presencePenalty: 0.5, frequencyPenalty: 0 });
    expect(older.losses).toEqual(["dropped:logit_bias"]);
    const newer = encode(request);
    expect(newer.body["generationConfig"]).toEqual({ seed: 7 });
    expect(newer.losses).toEqual(["dropped:presence_penalty", "dropped:logit_bias"]);
  });

  test("a service tier is sent where the host knows it", () => {
    expect(encode({ serviceTier: "fast" }).body["serviceTier"]).toBe("priority");
    expect(encode({ serviceTier: "auto" }).body).not.toHaveProperty("serviceTier");
    const { body, losses } = encode({ serviceTier: "flex" }, { traits: { serviceTiers: false } });
    expect(body).not.toHaveProperty("serviceTier");
    expect(losses).toEqual(["dropped:serviceTier"]);
  });
});
