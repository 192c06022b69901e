/** The short way to a verdict on a request never says yes where the whole way says no. */
import { describe, expect, test } from "bun:test";
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import type { ClientCodec, RequestCheck } from "../../src/core/format.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { createMessagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { RequestBody } from "../../src/server/request-body.ts";
import { LONGEST_KEPT } from "../../src/stream/outline/outline.ts";
import { scanBody } from "../../src/stream/scan.ts";
import { captures, haveCaptures, NO_CAPTURES } from "../helpers/captures.ts";
import { haveRecordings, NO_RECORDINGS, recordings, someOf } from "../helpers/recordings.ts";
import { IS_LONG } from "../helpers/effort.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const CLIENTS: Record<string, ClientCodec> = {
  chat: chatCompletionsFormat.client!,
  messages: createMessagesFormat({ systemTurns: "accept" }).client!,
  responses: responsesFormat.client,
};
const DEPTH = 128;

/** The whole way: parse everything, then hold the rules. */
function isValid(bytes: Uint8Array, client: ClientCodec): boolean {
  try {
    const scan = scanBody(bytes, DEPTH);
    if (bytes.length === 0 || !isUtf8(bytes) || scan.tooDeep || scan.duplicate !== undefined) return false;
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(body)) return false;
    client.request.checkRequest(body);
    return true;
  } catch {
    return false;
  }
}

/** The way a request goes. */
function isTaken(bytes: Uint8Array, client: ClientCodec): { valid: boolean; short: boolean } {
  try {
    const body = new RequestBody(bytes, DEPTH);
    body.validate(client.request);
    return { valid: true, short: body.short !== undefined };
  } catch {
    return { valid: false, short: false };
  }
}

function compare(bytes: Uint8Array, client: ClientCodec): boolean {
  const { valid, short } = isTaken(bytes, client);
  expect(valid).toBe(isValid(bytes, client));
  return short;
}

describe("what the rules compare with is kept whole", () => {
  /** Every schema inside of one. */
  function* inside(schema: unknown): Generator<JsonObject> {
    if (Array.isArray(schema)) for (const item of schema) yield* inside(item);
    else if (isObject(schema as JsonObject)) {
      yield schema as JsonObject;
      for (const part of Object.values(schema as JsonObject)) yield* inside(part);
    }
  }
  for (const [name, client] of Object.entries(CLIENTS))
    test(name, () => {
      for (const schema of inside(client.request.schema)) {
        if (typeof schema["const"] === "string") {
          expect(schema["const"]).toMatch(/^[a-z_]+$/);
          expect(schema["const"].length).toBeLessThan(LONGEST_KEPT);
        }
        // A list says nothing of how often something may stand in it.
        expect(schema["maxItems"]).toBeUndefined();
        if (typeof schema["minItems"] === "number") expect(schema["minItems"]).toBe(1);
        // Only "any word but these": true of a tilde as of any long text.
        if (typeof schema["pattern"] === "string")
          expect(schema["pattern"]).toMatch(
            /^\^\(\?!(?:[a-z_]{1,31}|\([a-z_]{1,31}(?:\|[a-z_]{1,31})*\))\$\)$/,
          );
        if (typeof schema["minLength"] === "number") expect(schema["minLength"]).toBeLessThanOrEqual(1);
        for (const keyword of [
          "maxLength",
          "format",
          "enum",
          "uniqueItems",
          "propertyNames",
          "patternProperties",
        ])
          if (schema["type"] === "string" || keyword === "uniqueItems")
            expect(schema[keyword]).toBeUndefined();
      }
    });
});

describe("recorded requests", () => {
  for (const [api, client] of Object.entries(CLIENTS))
    test.if(haveRecordings)(`${api}${haveRecordings ? "" : `: ${NO_RECORDINGS}`}`, () => {
      let short = 0;
      const bodies = someOf(recordings({ api })).flatMap(({ request }) =>
        request?.body ? [request.body] : [],
      );
      for (const body of bodies) {
        if (compare(Buffer.from(JSON.stringify(body)), client)) short++;
        compare(Buffer.from(JSON.stringify(body, null, 2)), client);
      }
      expect(bodies.length).toBeGreaterThan(IS_LONG ? 100 : 25);
      expect(short / bodies.length).toBeGreaterThan(0.98);
    });
});

test.if(haveCaptures)(`captured requests${haveCaptures ? "" : `: ${NO_CAPTURES}`}`, () => {
  const paths = { "/v1/messages": "messages", "/chat/completions": "chat", "/v1/responses": "responses" };
  for (const [path, name] of Object.entries(paths))
    for (const { body } of captures(path, /./)) {
      const bytes = Buffer.from(JSON.stringify(body));
      expect(compare(bytes, CLIENTS[name]!)).toBe(true);
      const read = new RequestBody(bytes, DEPTH);
      expect(read.scalar("model")).toBe(body["model"] as string);
      for (const name of Object.keys(body)) {
        const { start, end } = read.spanOf(name)!;
        expect(JSON.parse(bytes.subarray(start, end).toString())).toEqual(body[name] as never);
      }
    }
});

const LONG = 'A long text with "quotes", a \\ backslash,\na line break, é, 𝄞 and more of the same. '.repeat(
  2,
);

const CHAT = {
  model: "gpt-4.1",
  messages: [
    { role: "system", content: LONG },
    {
      role: "user",
      content: [
        { type: "text", text: LONG },
        { type: "image_url", image_url: { url: LONG } },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: LONG } }],
    },
    { role: "tool", tool_call_id: "c1", content: "short" },
  ],
  tools: [{ type: "function", function: { name: "f", description: LONG, parameters: { type: "object" } } }],
  temperature: 1.5,
  stream: true,
  max_tokens: 12,
};

const MESSAGES = {
  model: "claude-x",
  max_tokens: 100,
  system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: LONG },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: LONG, signature: LONG },
        { type: "tool_use", id: "t", name: "f", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: LONG }] },
  ],
  tools: [{ name: "f", input_schema: { type: "object" } }],
  stream: false,
};

const SPICE = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\n",
  "\u0000",
  "\u001f",
  "0",
  "-",
  "e",
  "t",
  "null",
  "~",
  " ",
  "\\u12",
  '","',
  "é",
  '"model":1,',
  '"mod\\u0065l":"x",',
  "1e999",
  "01",
  "NaN",
  "\ufeff",
  '"__proto__":{},',
  "//",
];

test("mangled bodies get the verdict of the whole way", () => {
  const edits = fc.array(
    fc.record({
      at: fc.nat(),
      drop: fc.nat(6),
      put: fc.oneof(
        fc.constant(""),
        fc.constantFrom(...SPICE),
        fc.uint8Array({ maxLength: 3 }).map((raw) => Buffer.from(raw).toString("latin1")),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  );
  let valid = 0;
  for (const [name, body] of [
    ["chat", CHAT],
    ["messages", MESSAGES],
    ["chat", { ...CHAT, messages: [...CHAT.messages, ...CHAT.messages, ...CHAT.messages.slice(1)] }],
    ["messages", { ...MESSAGES, messages: MESSAGES.messages.flatMap((turn) => [turn, turn, turn]) }],
  ] as const) {
    const client = CLIENTS[name]!;
    const whole = Buffer.from(JSON.stringify(body));
    expect(compare(whole, client)).toBe(true);
    for (let end = 0; end < whole.length; end += IS_LONG ? 1 : 7)
      expect(isTaken(whole.subarray(0, end), client).valid).toBe(false);
    withinBudget(
      fc.property(edits, (list) => {
        let bytes: Buffer = whole;
        for (const { at, drop, put } of list) {
          const start = at % (bytes.length + 1);
          bytes = Buffer.concat([
            bytes.subarray(0, start),
            Buffer.from(put, "latin1"),
            bytes.subarray(start + drop),
          ]);
        }
        compare(bytes, client);
        if (isValid(bytes, client)) valid++;
      }),
    );
  }
  // The property would say nothing of bodies that are all broken.
  expect(valid).toBeGreaterThan(0);
});

test("values of other kinds in the place of any member", () => {
  const odd: unknown[] = [
    null,
    1,
    -1,
    0.5,
    1e300,
    true,
    "",
    "x",
    LONG,
    [],
    {},
    [LONG],
    { role: LONG },
    { type: LONG },
    [{ role: "user", content: LONG }],
  ];
  const replaced = (value: unknown, put: unknown): unknown[] =>
    typeof value !== "object" || value === null
      ? [put]
      : [
          put,
          ...Object.entries(value).flatMap(([key, member]) =>
            replaced(member, put).map((inner) =>
              Array.isArray(value)
                ? value.map((item, at) => (String(at) === key ? inner : item))
                : { ...value, [key]: inner },
            ),
          ),
        ];
  for (const put of odd) {
    for (const body of replaced(CHAT, put)) compare(Buffer.from(JSON.stringify(body)), CLIENTS["chat"]!);
    for (const body of replaced(MESSAGES, put))
      compare(Buffer.from(JSON.stringify(body)), CLIENTS["messages"]!);
  }
});

test("a model name that was cut short is read in full", () => {
  const model = `openai/${"m".repeat(60)}`;
  const body = new RequestBody(Buffer.from(JSON.stringify({ ...CHAT, model })), DEPTH);
  expect(body.scalar("model")).toBe(model);
  expect(new RequestBody(Buffer.from(JSON.stringify({ ...CHAT, model: "~" })), DEPTH).scalar("model")).toBe(
    "~",
  );
});

/** A string in JSON with every character as `\u0061`. */
function spelledOut(word: string): string {
  const units = Array.from({ length: word.length }, (_, at) => word.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}

describe("words that are spelled in escapes are the same words", () => {
  const minimal = '"model":"m","messages":[{"role":"user","content":"hi"}]';
  const cases: [string, string][] = [
    ["a member that stands twice", `{${minimal},"stream":false,${spelledOut("stream")}:true}`],
    ["a longer member that stands twice", `{${minimal},${spelledOut("messages")}:[]}`],
    ["an optional member of a wrong kind", `{${minimal},${spelledOut("max_completion_tokens")}:"many"}`],
    ["an optional member out of its range", `{${minimal},${spelledOut("temperature")}:99}`],
    ["a word that asks for more", `{${minimal},"tools":[{"type":${spelledOut("function")}}]}`],
  ];
  for (const [name, body] of cases)
    test(name, () => {
      expect(compare(Buffer.from(body), CLIENTS["chat"]!)).toBe(false);
      expect(isTaken(Buffer.from(body), CLIENTS["chat"]!).valid).toBe(false);
    });

  test("every short string of a body, and other values behind each", () => {
    let spelled = 0;
    const values = ["1", "-1", "99", '"x"', "null", "[]", "{}", "true", JSON.stringify(LONG)];
    for (const [name, body] of [
      ["chat", CHAT],
      ["messages", MESSAGES],
    ] as const) {
      const text = JSON.stringify(body);
      for (const found of text.matchAll(/"((?:[^"\\]|\\.)*)"(:?)/g)) {
        const [token, word, colon] = found as unknown as [string, string, string];
        if (!/^\w{1,32}$/.test(word)) continue;
        spelled++;
        const head = text.slice(0, found.index);
        const tail = text.slice(found.index + token.length);
        compare(Buffer.from(head + spelledOut(word) + colon + tail), CLIENTS[name]!);
        if (colon !== "")
          for (const value of values)
            for (const key of [`"${word}"`, spelledOut(word)])
              compare(Buffer.from(`${head}${key}:${value},${token}${tail}`), CLIENTS[name]!);
      }
    }
    expect(spelled).toBeGreaterThan(80);
  });

  test("they are read where they stand", () => {
    const model = "openai/a-model-with-a-long-name";
    const body = new RequestBody(
      Buffer.from(
        `{${spelledOut("model")}:${spelledOut(model)},"messages":[{"role":"user","content":"hi"}]}`,
      ),
      DEPTH,
    );
    expect(body.short).toBeDefined();
    expect(body.scalar("model")).toBe(model);
    const { start, end } = body.spanOf("model")!;
    expect(Buffer.from(body.bytes.subarray(start, end)).toString()).toBe(spelledOut(model));
  });
});

test("a member that is not there has no place, and a model name that was cut short is no reason to parse", () => {
  const model = `openai/${"m".repeat(60)}`;
  const body = new RequestBody(Buffer.from(JSON.stringify({ ...CHAT, model })), DEPTH);
  expect(body.spanOf("metadata")).toBeUndefined();
  expect(body.scalar("model")).toBe(model);
  expect(body.isParsed).toBe(false);
  expect(body.json["model"]).toBe(model);
  expect(body.isParsed).toBe(true);
});

describe("a format that does not say so is not judged by the outline", () => {
  const given = {
    model: "m",
    note: "A sentence that a rule of the format compares as a whole.",
    messages: [1, 1],
  };
  const seen: JsonObject[] = [];
  const request: RequestCheck = {
    ...chatCompletionsFormat.client.request,
    checkRequest(body: unknown) {
      seen.push(body as JsonObject);
    },
  };

  test.each([
    [true, "~", [1, 1]],
    [undefined, given.note, [1, 1]],
  ])("judgedByOutline %p", (judgedByOutline, note, messages) => {
    seen.length = 0;
    const body = new RequestBody(Buffer.from(JSON.stringify(given)), DEPTH);
    body.validate({ ...request, judgedByOutline });
    expect(seen).toEqual([{ model: "m", note, messages }]);
    expect(body.isParsed).toBe(judgedByOutline !== true);
  });
});
