/** What is written, judged by the vendor's own document. */
import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  answer,
  chunks,
  client,
  clientCall,
  decode,
  encode,
  reasoning,
  run,
  text,
  tool,
  writeAnswer,
} from "./make.ts";
import { haveDocument, judge, NO_DOCUMENT } from "./openapi.ts";

if (!haveDocument) console.log(NO_DOCUMENT);

const runs: [what: string, events: ChatEvent[]][] = [
  ["text", answer(text(0, "a", "b"))],
  ["nothing", answer([])],
  [
    "reasoning and calls",
    answer(
      [
        ...reasoning(0, ["r"], "sig", "anthropic"),
        ...text(1, "t"),
        ...tool(2, "f", ["{}"]),
        ...tool(3, "g", []),
      ],
      { kind: "tool-calls" },
    ),
  ],
  [
    "a refusal",
    answer(run(0, { type: "refusal" }, ["no"]), { kind: "content-filter", raw: "refusal", explanation: "x" }),
  ],
  [
    "a citation",
    answer([
      ...text(0, "a").slice(0, 2),
      { type: "citation", index: 0, citation: { url: "https://x.test" } },
      ...text(0, "a").slice(2),
    ]),
  ],
  [
    "a custom call",
    answer(run(0, { type: "tool-call", id: "c", name: "p", kind: "custom" }, ["x"]), { kind: "tool-calls" }),
  ],
  ["the limit", answer(text(0, "a"), { kind: "length" })],
];

describe.skipIf(!haveDocument)("answers", () => {
  test.each(runs)("%s", (_what, events) => {
    expect(judge("CreateChatCompletionResponse", writeAnswer(events, clientCall()))).toEqual([]);
  });

  test("legacy calls", () => {
    const call = clientCall({ style: { legacyFunctions: true } });
    expect(
      judge(
        "CreateChatCompletionResponse",
        writeAnswer(answer(tool(0, "f", []), { kind: "tool-calls" }), call),
      ),
    ).toEqual([]);
  });

  test.each(runs.filter(([what]) => what !== "a custom call"))("streamed: %s", (_what, events) => {
    for (const { usage, ...body } of chunks(events, clientCall({ style: { includeUsage: true } }))) {
      // The document has no null here, and the vendor sends it all the same.
      const chunk = { ...body, ...(usage !== null && { usage }) };
      expect(judge("CreateChatCompletionStreamResponse", chunk)).toEqual([]);
    }
  });

  test("errors", () => {
    expect(
      judge("ErrorResponse", client.codec.encodeError(new GatewayError("upstream", "x"), "r").body),
    ).toEqual([]);
  });
});

const HELLO: ChatRequest["turns"] = [{ role: "user", blocks: [{ type: "text", text: "hi" }] }];
const requests: [what: string, parts: Partial<ChatRequest>][] = [
  ["a word", {}],
  [
    "settings",
    {
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.5,
      stop: ["a", "b", "c", "d", "e"],
      stream: true,
      user: "x".repeat(200),
      session: "y".repeat(200),
      serviceTier: "standard",
    },
  ],
  [
    "tools",
    {
      tools: [
        { kind: "function", name: "files.read", parameters: { type: "object" }, strict: true },
        { kind: "custom", name: "c", format: "chat-completions", value: { format: { type: "text" } } },
      ],
      toolChoice: { type: "tool", name: "c" },
      parallelToolCalls: false,
    },
  ],
  [
    "a schema",
    {
      answerFormat: { type: "json-schema", name: "a b", schema: { type: "object" } },
      reasoning: { effort: "max" },
    },
  ],
  [
    "a conversation",
    {
      turns: [
        { role: "system", blocks: [{ type: "text", text: "S", cache: { ttl: "1h" } }] },
        ...HELLO,
        {
          role: "assistant",
          blocks: [
            { type: "text", text: "t" },
            { type: "tool-call", id: "i d", name: "f", input: "", kind: "function" },
          ],
        },
        {
          role: "user",
          blocks: [
            {
              type: "tool-result",
              id: "i d",
              blocks: [{ type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } }],
              error: true,
            },
            { type: "text", text: "see" },
          ],
        },
        {
          role: "user",
          blocks: [
            { type: "document", source: { type: "base64", mediaType: "application/pdf", data: "AAAA" } },
            { type: "audio", data: "AAAA", format: "wav" },
          ],
        },
      ],
    },
  ],
];

describe.skipIf(!haveDocument)("requests", () => {
  test.each(requests)("%s", (_what, parts) => {
    for (const model of ["gpt-4o", "gpt-5", "gpt-5.6-sol"]) {
      const { body } = encode(
        { turns: HELLO, ...parts },
        { model, traits: { files: true, promptCacheKey: true, userField: "safety_identifier" } },
      );
      expect(judge("CreateChatCompletionRequest", body)).toEqual([]);
    }
  });

  test("one of this format comes back out as the document wants it", () => {
    const body: JsonObject = {
      messages: [{ role: "user", content: "x" }],
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
      },
      seed: 1,
    };
    expect(judge("CreateChatCompletionRequest", { model: "m", ...body })).toEqual([]);
    expect(
      judge("CreateChatCompletionRequest", encode(decode(body), { format: "chat-completions" }).body),
    ).toEqual([]);
  });

  test("the judge sees faults", () => {
    expect(
      judge("CreateChatCompletionRequest", { model: "m", messages: [{ role: "bot", content: 1 }] }),
    ).not.toEqual([]);
    expect(judge("CreateChatCompletionResponse", { id: "x" })).not.toEqual([]);
  });
});
