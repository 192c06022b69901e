/** Answers that do not match their schemas: the model is asked once more, and then the guard blocks. Valid ones go on byte for byte. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ChatEvent } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { writeFrame } from "../../../stream/sse.ts";
import { writeAll } from "../../../../test/helpers/answer-codecs.ts";
import { makeContext } from "../../../../test/helpers/codec-context.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { LANES, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { schemaFaults } from "../schema/validate.ts";

setDefaultTimeout(120_000);

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    to: { type: "array", items: { type: "string", minLength: 3 }, minItems: 1 },
    subject: { type: "string", maxLength: 20, pattern: "^[A-Z]" },
    priority: { enum: ["low", "high"] },
    count: { type: "integer", minimum: 1, maximum: 9 },
    by: { $ref: "#/$defs/person" },
  },
  required: ["to", "subject"],
  additionalProperties: false,
  $defs: { person: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};
const VALID = { to: ["bob"], subject: "Hello", priority: "low", count: 3, by: { name: "Ann" } };
const FAULTS: ((value: JsonObject, at: number) => Json | undefined)[] = [
  ({ to: _, ...rest }) => rest,
  ({ subject: _, ...rest }) => rest,
  (value, at) => ({ ...value, to: [`x${at}`.slice(0, 2)] }),
  (value) => ({ ...value, to: [] }),
  (value, at) => ({ ...value, to: [at] }),
  (value, at) => ({ ...value, subject: `lower ${at}` }),
  (value, at) => ({ ...value, subject: `Long ${"x".repeat(20 + (at % 50))}` }),
  (value, at) => ({ ...value, priority: `p${at}` }),
  (value, at) => ({ ...value, count: 10 + at }),
  (value, at) => ({ ...value, count: 1.5 + at }),
  (value) => ({ ...value, count: "3" }),
  (value, at) => ({ ...value, by: { nam: at } }),
  (value, at) => ({ ...value, [`other${at}`]: 1 }),
  (value) => [value],
  () => undefined,
];
const invalid = (at: number): string => {
  const value = FAULTS[at % FAULTS.length]!(VALID, at);
  return value === undefined ? JSON.stringify(VALID).slice(0, -1 - (at % 40)) : JSON.stringify(value);
};

const escape = (text: string) => JSON.stringify(text).slice(1, -1);

let gateway: RunningGateway;
const upstreams = new Map<string, Upstream>();
/** The arguments of the first answer, and those of the second one. */
let [first, second] = ["", ""];
let text = "";

function events(input: string): ChatEvent[] {
  const call = { type: "tool-call", id: "c_1", name: "send", kind: "function" } as const;
  const block = text === "" ? call : ({ type: "text" } as const);
  return [
    { type: "message-start", id: "a_1", model: "m" },
    { type: "block-start", index: 0, block },
    { type: "block-delta", index: 0, delta: text === "" ? input : text },
    { type: "block-end", index: 0 },
    {
      type: "message-end",
      reason: { kind: text === "" ? "tool-calls" : "stop" },
      usage: { ...NO_USAGE, input: 5, output: 5 },
    },
  ];
}

beforeAll(async () => {
  const providers = Object.entries(SPOKEN).map(([format, { codec }]) => {
    const upstream = startUpstream(({ body, path }) => {
      const input = body.includes("was not accepted") ? second : first;
      const said = events(JSON.stringify(VALID));
      // The codecs write no arguments that are no JSON.
      const asModel = (written: string) => written.replaceAll(escape(JSON.stringify(VALID)), escape(input));
      const isObjects = format === "messages" || format === "gemini";
      const own = isObjects ? events(input) : said;
      const isStream = body.includes('"stream":true') || path.includes("stream");
      if (!isStream) {
        const whole = JSON.stringify(codec.writeAnswer(own, makeContext()));
        return json(JSON.parse(asModel(whole)) as JsonObject);
      }
      return sse(writeAll(codec.writeStream(makeContext()), own).map((frame) => asModel(writeFrame(frame))));
    });
    upstreams.set(format, upstream);
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    return [
      `p-${format}`,
      { speaks: format, baseUrl, apiKey: "k-1234567", models: ["m", "once", "free", "flagged"] },
    ] as const;
  });
  gateway = await startGateway({
    config: {
      providers: Object.fromEntries(providers),
      guards: {
        shape: { schema: true, repair: 1, models: ["*/m"] },
        strict: { schema: { tools: true }, models: ["*/once"] },
        seen: { schema: { answer: SCHEMA }, do: "flag", models: ["*/flagged"] },
      },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  for (const upstream of upstreams.values()) upstream.stop();
});

const FUNCTION = { name: "send", description: "Sends.", parameters: SCHEMA };
const ASK: Record<string, (model: string, stream: boolean) => [string, JsonObject]> = {
  "chat-completions": (model, stream) => [
    "/v1/chat/completions",
    {
      ...{
        model,
        stream,
        messages: [{ role: "user", content: "Go" }],
        tools: [{ type: "function", function: FUNCTION }],
      },
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
    },
  ],
  messages: (model, stream) => [
    "/v1/messages",
    {
      ...{ model, stream, max_tokens: 99, messages: [{ role: "user", content: "Go" }] },
      tools: [{ name: "send", description: "Sends.", input_schema: SCHEMA }],
    },
  ],
  responses: (model, stream) => [
    "/v1/responses",
    { model, stream, input: "Go", tools: [{ type: "function", ...FUNCTION, strict: false }] },
  ],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    {
      contents: [{ role: "user", parts: [{ text: "Go" }] }],
      tools: [{ functionDeclarations: [{ name: "send", parametersJsonSchema: SCHEMA }] }],
    },
  ],
  ollama: (model, stream) => [
    "/api/chat",
    {
      model,
      stream,
      messages: [{ role: "user", content: "Go" }],
      tools: [{ type: "function", function: FUNCTION }],
    },
  ],
};

async function ask(format: string, model: string, stream: boolean, more: JsonObject = {}) {
  const [path, body] = ASK[format]!(model, stream);
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...more }),
  });
  let said = "";
  try {
    for await (const piece of response.body!) said += Buffer.from(piece).toString();
  } catch {
    // The connection ends with the error.
  }
  return { status: response.status, said, guards: response.headers.get("x-weir-guards") };
}

const TALKS = LANES.filter(([format]) => format in ASK);
/** Formats whose arguments are objects cannot say what is no object of JSON. */
const canSay = (format: string, at: number) =>
  format === "chat-completions" || format === "responses" || at % 15 < 13;

describe("invalid arguments", () => {
  for (const [format, spoken] of TALKS)
    for (const stream of [false, true])
      test(`${format} to ${spoken}${stream ? ", streamed" : ""}: repaired once, else blocked`, async () => {
        text = "";
        for (let at = 0; at < FAULTS.length; at++) {
          if (!canSay(format, at) || !canSay(spoken, at)) continue;
          // A provider whose answer is cut has failed, where weir reads it.
          if (format !== spoken && at === FAULTS.length - 1) continue;
          first = invalid(at);
          second = JSON.stringify(VALID);
          const upstream = upstreams.get(spoken)!;
          const count = upstream.requests.length;
          const good = await ask(format, `p-${spoken}/m`, stream);
          expect([at, good.status, good.said]).toEqual([at, 200, expect.stringContaining("Hello")]);
          expect(upstream.requests.length).toBe(count + 2);
          second = invalid(at + 15);
          const bad = await ask(format, `p-${spoken}/m`, stream);
          expect([at, bad.said]).toEqual([at, expect.stringContaining("not match the schema")]);
          expect([at, stream || bad.status === 400]).toEqual([at, true]);
          expect(bad.said).not.toMatch(/bob|\[DONE\]|message_stop"|response\.completed/);
          expect(upstream.requests.length).toBe(count + 4);
        }
      });

  test("a thousand of them are blocked, and none reaches the client", async () => {
    text = "";
    for (let at = 0; at < 1_000; at++) {
      first = invalid(at);
      const { status, said } = await ask("chat-completions", "p-chat-completions/once", at % 2 === 1);
      if (status !== 400 || !said.includes("not match the schema") || said.includes("bob"))
        throw new Error(`${at}: ${status} ${first} ${said}`);
    }
  });
});

describe("valid arguments go on byte for byte", () => {
  for (const [format, spoken] of TALKS)
    for (const stream of [false, true])
      test(`${format} to ${spoken}${stream ? ", streamed" : ""}`, async () => {
        text = "";
        first = JSON.stringify(VALID);
        const guarded = await ask(format, `p-${spoken}/m`, stream);
        const free = await ask(format, `p-${spoken}/free`, stream);
        const plain = (said: string) =>
          said
            .replace(/: weir-guards [^\n]*\n\n/, "")
            .replace(/\/(m|free)\b/g, "")
            .replace(/"(m|free)"/g, '"m"')
            .replace(/(resp|msg|chatcmpl|fc|item)[-_]\w+/g, "ID")
            .replace(/"(created|created_at|completed_at)":("[^"]*"|\d+)/g, "TIME")
            .replace(/"\w*_duration":\d+/g, "DURATION");
        expect([guarded.status, plain(guarded.said)]).toEqual([200, plain(free.said)]);
        expect(guarded.said).toContain("Hello");
      });
});

test("the text that a request demands as JSON, and one that the config demands", async () => {
  text = '{"to":["bob"]}';
  const bad = await ask("chat-completions", "p-chat-completions/m", false);
  expect([bad.status, bad.said]).toEqual([
    400,
    expect.stringContaining("it does not match the schema: subject is required"),
  ]);
  const free = await ask("chat-completions", "p-chat-completions/m", false, {
    response_format: { type: "text" },
  });
  expect([free.status, free.guards]).toEqual([200, "shape=passed"]);
  const flagged = await ask("messages", "p-messages/flagged", true);
  expect([flagged.status, flagged.said]).toEqual([200, expect.stringContaining("bob")]);
  expect(flagged.guards).toBe("seen=flagged:1");
  text = "";
});

describe("the words of schemas", () => {
  const cases: [JsonObject, Json, string[]][] = [
    [SCHEMA, VALID, []],
    [
      SCHEMA,
      { to: ["bob", 1], subject: "x" },
      ["to[1] must be of the type string", 'subject must match "^[A-Z]"'],
    ],
    [SCHEMA, { ...VALID, by: {} }, ["by.name is required"]],
    [SCHEMA, { ...VALID, secret: 1 }, [" has a member that the schema does not name"]],
    [{ type: ["string", "null"] }, null, []],
    [{ type: "STRING", nullable: true }, null, []],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, true, [" must be as one of the schemas of anyOf"]],
    [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, [" must be as exactly one of the schemas of oneOf"]],
    [{ allOf: [{ minimum: 1 }, { exclusiveMaximum: 3 }] }, 3, [" must be less than 3"]],
    [{ maximum: 3, exclusiveMaximum: true }, 3, [" must be less than 3"]],
    [{ not: { const: 1 } }, 1, [" must not be as the schema of not"]],
    [{ if: { const: 1 }, then: false }, 1, [" is not permitted"]],
    [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [1, 2, 3], ["[2] must be 2"]],
    [{ items: [{ const: 1 }] }, [2], ["[0] must be 1"]],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [" must have no item twice"],
    ],
    [{ multipleOf: 0.1 }, 0.3, []],
    [
      { patternProperties: { "^n": { type: "number" } }, additionalProperties: false },
      { n1: 1, x: 2 },
      [" has a member that the schema does not name"],
    ],
    [{ $ref: "#" }, 1, []],
    [
      { $defs: { list: { items: { $ref: "#/$defs/list" }, type: "array" } }, $ref: "#/$defs/list" },
      [[[1]]],
      ["[0][0][0] must be of the type array"],
    ],
    [{ pattern: "(a+)+$" }, "aaaa", []],
    [{ format: "email" }, "none", []],
  ];
  for (const [schema, value, faults] of cases)
    test(JSON.stringify([schema, value]).slice(0, 120), () => {
      expect(schemaFaults(schema, value).map(({ path, clause }) => `${path} ${clause}`)).toEqual(faults);
    });
});
