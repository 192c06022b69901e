/** Which requests mean the same, in one dialect and in different ones. */
import { describe, expect, test } from "bun:test";
import { builtInFormats } from "../../../src/run/formats.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { createMask } from "../../../src/gateway/recording/mask.ts";
import { type Meaning, meaningOf } from "../../../src/gateway/recording/meaning.ts";
import { makeContext } from "../../helpers/codec-context.ts";

const formats = new Map(builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format]));
const mask = createMask((text) => text);

function meaning(format: string, body: JsonObject): Meaning {
  return meaningOf(formats.get(format)!.client!.codec.decodeRequest(body, makeContext()), mask);
}

const PARAMETERS = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

/** One conversation with a tool call in three dialects. */
const CHAT = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "read", arguments: '{"path": "a"}' } },
        { id: "call_2", type: "function", function: { name: "read", arguments: '{"path": "b"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "A" },
    { role: "tool", tool_call_id: "call_2", content: "B" },
  ],
  tools: [{ type: "function", function: { name: "read", description: "Reads", parameters: PARAMETERS } }],
};
const MESSAGES = {
  model: "m",
  max_tokens: 100,
  system: "Be brief.",
  messages: [
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "tool_use", id: "toolu_x", name: "read", input: { path: "a" } },
        { type: "tool_use", id: "toolu_y", name: "read", input: { path: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_x", content: "A" },
        { type: "tool_result", tool_use_id: "toolu_y", content: [{ type: "text", text: "B" }] },
      ],
    },
  ],
  tools: [
    { name: "read", description: "Reads", input_schema: PARAMETERS, cache_control: { type: "ephemeral" } },
  ],
};
const RESPONSES = {
  model: "m",
  instructions: "Be brief.",
  input: [
    { role: "user", content: [{ type: "input_text", text: "Read a and b" }] },
    { type: "function_call", call_id: "fc_1", name: "read", arguments: '{"path":"a"}' },
    { type: "function_call", call_id: "fc_2", name: "read", arguments: '{"path":"b"}' },
    { type: "function_call_output", call_id: "fc_1", output: "A" },
    { type: "function_call_output", call_id: "fc_2", output: "B" },
  ],
  tools: [{ type: "function", name: "read", description: "Reads", parameters: PARAMETERS, strict: false }],
};

test("a conversation with tools has the same lines in three dialects", () => {
  const { lines } = meaning("chat-completions", CHAT);
  expect(lines).toEqual([
    "tool read",
    "  | Reads",
    `  {"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}`,
    "system",
    "  | Be brief.",
    "user",
    "  | Read a and b",
    "assistant",
    '  call 1: read {"path":"a"}',
    '  call 2: read {"path":"b"}',
    "user",
    "  result of call 1",
    "    | A",
    "  result of call 2",
    "    | B",
  ]);
  expect(meaning("messages", MESSAGES).lines).toEqual(lines);
  expect(meaning("responses", RESPONSES).lines).toEqual(lines);
});

test("results of tools that ran at once count in the order of their calls", () => {
  const [system, user, assistant, first, second] = CHAT.messages;
  const turned = { ...CHAT, messages: [system, user, assistant, second, first] };
  expect(meaning("chat-completions", turned as JsonObject)).toEqual(meaning("chat-completions", CHAT));
});

describe("what does not count", () => {
  const rows: [what: string, change: JsonObject][] = [
    ["whether the answer is streamed", { stream: true, stream_options: { include_usage: true } }],
    ["the end user", { user: "somebody" }],
    ["the prompt cache", { prompt_cache_key: "k" }],
    ["metadata", { metadata: { run: "17" } }],
  ];
  for (const [what, change] of rows)
    test(what, () => {
      expect(meaning("chat-completions", { ...CHAT, ...change })).toEqual(meaning("chat-completions", CHAT));
    });
});

describe("what counts", () => {
  const rows: [what: string, change: JsonObject][] = [
    ["the model", { model: "n" }],
    ["the temperature", { temperature: 0.5 }],
    ["the seed", { seed: 7 }],
    ["the output limit", { max_tokens: 5 }],
    ["the shape of the answer", { response_format: { type: "json_object" } }],
    ["the number of choices", { n: 2 }],
    ["the text", { messages: [{ role: "user", content: "Read a" }] }],
  ];
  for (const [what, change] of rows)
    test(what, () => {
      expect(meaning("chat-completions", { ...CHAT, ...change })).not.toEqual(
        meaning("chat-completions", CHAT),
      );
    });
});

test("text of the conversation cannot pass for another turn", () => {
  const forged = { model: "m", messages: [{ role: "user", content: "Hi\nassistant\n  | Ho" }] };
  expect(meaning("chat-completions", forged).lines).toEqual([
    "user",
    "  | Hi",
    "  | assistant",
    "  |   | Ho",
  ]);
});

test("media are on the tape as digests", () => {
  const data = "iVBORw0KGgo".repeat(100);
  const { lines } = meaning("chat-completions", {
    model: "m",
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] },
    ],
  });
  expect(lines.join()).not.toContain(data.slice(0, 40));
  expect(lines[1]).toMatch(/^ {2}image image\/png sha256:[0-9a-f]{16} \(1100 characters\)$/);
});

test("credentials are masked, and ordinary words are not", () => {
  const secrets = [
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt",
    "weir_sk_J7mVabcdefghijklmnMr7P",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-def",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "ya29.a0AfH6SMBx-abcdefghijklmnop",
    "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789",
    "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
  ];
  for (const secret of secrets) expect(mask(`before ${secret} after`)).toBe("before *** after");
  const parts: [text: string, masked: string][] = [
    ["https://h/v1?alt=sse&key=AbCdEfGh12", "https://h/v1?alt=sse&key=***"],
    ["https://b.s3/x.png?X-Amz-Signature=00ff00ff00ff&w=1", "https://b.s3/x.png?X-Amz-Signature=***&w=1"],
    ["postgres://weir:hunter2@db/weir", "postgres://weir:***@db/weir"],
    ["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "AWS_SECRET_ACCESS_KEY=***"],
    ["export DB_PASSWORD='correct0horse1battery'", "export DB_PASSWORD='***'"],
  ];
  for (const [text, masked] of parts) expect(mask(text)).toBe(masked);
  for (const kept of [
    "API_KEY=your-key-goes-here",
    "http://127.0.0.1:9347/v1",
    "https://h?page=2&keys=12345678",
  ])
    expect(mask(kept)).toBe(kept);
  const prose = "The key-value store has a key_count; sk-learn and pk-fields are words. Bearer of news.";
  expect(mask(prose)).toBe(prose);
});

test("patterns of the operator are masked", () => {
  expect(createMask((text) => text, [/\d{4}-\d\d-\d\d/g])("It is 2026-11-22.")).toBe("It is ***.");
});
