/** What weir changes in the body of a client of the format for a host whose traits the config states. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { fit, mustTranslate } from "../../../src/formats/chat-completions/upstream/fit.ts";
import { makeContext } from "../../helpers/codec-context.ts";

const hello = [{ role: "user", content: "Hello" }];
const tool = (name: string, more: JsonObject = {}) => ({ type: "function", function: { name, ...more } });
const named = (name: string) => ({ type: "function", function: { name } });
const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
const schema = { type: "object" };

interface Row {
  what: string;
  traits: Traits;
  body: JsonObject;
  /** Members that differ; `undefined`: removed. */
  changes: Record<string, unknown>;
  /** `code:path` of each loss. */
  losses?: string[];
}

const PROMPT = "Respond with one JSON object only, without any text around it";

const ROWS: readonly Row[] = [
  {
    what: "a stream becomes JSON, without its options",
    traits: { streaming: false },
    body: { stream: true, stream_options: { include_usage: true } },
    changes: { stream: false, stream_options: undefined },
  },
  {
    what: "one choice and no log probabilities are left where weir writes the stream itself",
    traits: { streaming: false },
    body: { stream: true, n: 2, logprobs: true, top_logprobs: 3 },
    changes: { stream: false, n: undefined, logprobs: undefined, top_logprobs: undefined },
    losses: ["dropped:n", "dropped:logprobs"],
  },
  {
    what: "JSON becomes a stream where JSON has no token counts",
    traits: { jsonUsage: false },
    body: {},
    changes: { stream: true },
  },
  {
    what: "missing token counts are a loss where several choices are wanted",
    traits: { jsonUsage: false },
    body: { n: 2 },
    changes: {},
    losses: ["dropped:usage"],
  },
  {
    what: "stream_options",
    traits: { streamOptions: false },
    body: { stream: true, stream_options: { include_usage: true } },
    changes: { stream_options: undefined },
    losses: ["dropped:stream_options"],
  },
  {
    what: "the output limit of a host that keeps to none",
    traits: { outputLimit: false },
    body: { max_completion_tokens: 5, max_tokens: 5 },
    changes: { max_completion_tokens: undefined, max_tokens: undefined },
    losses: ["dropped:max_tokens"],
  },
  {
    what: "n and log probabilities",
    traits: { n: false, logprobs: false },
    body: { n: 2, logprobs: true, top_logprobs: 2 },
    changes: { n: undefined, logprobs: undefined, top_logprobs: undefined },
    losses: ["dropped:n", "dropped:logprobs"],
  },
  {
    what: "their defaults are removed without a loss",
    traits: { n: false, logprobs: false },
    body: { n: 1, logprobs: false },
    changes: { n: undefined, logprobs: undefined },
  },
  {
    what: "tools, and what the conversation has of them",
    traits: { tools: false },
    body: {
      tools: [tool("look")],
      tool_choice: "auto",
      messages: [
        ...hello,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "snow" },
      ],
    },
    changes: {
      tools: undefined,
      tool_choice: undefined,
      messages: [
        ...hello,
        { role: "assistant", content: '[call of tool look: {"at":1}]' },
        { role: "user", content: "[result of tool look]\nsnow" },
      ],
    },
    losses: ["dropped:tools", "converted:messages[1]", "converted:messages[2]"],
  },
  {
    what: "a forced call is left to the model, with the named tool alone",
    traits: { forcedToolChoice: false },
    body: { tools: [tool("a"), tool("b")], tool_choice: named("b") },
    changes: { tools: [tool("b")], tool_choice: "auto" },
    losses: ["downgraded:tool_choice"],
  },
  {
    what: "a named tool is offered alone, which is no loss",
    traits: { namedToolChoice: false },
    body: { tools: [tool("a"), tool("b")], tool_choice: named("b") },
    changes: { tools: [tool("b")], tool_choice: "required" },
  },
  {
    what: "parallel_tool_calls false",
    traits: { parallelToolCalls: false },
    body: { parallel_tool_calls: false },
    changes: { parallel_tool_calls: undefined },
    losses: ["dropped:parallel_tool_calls"],
  },
  {
    what: "parallel_tool_calls true is the default of every host",
    traits: { parallelToolCalls: false },
    body: { parallel_tool_calls: true },
    changes: { parallel_tool_calls: undefined },
  },
  {
    what: "strict tools",
    traits: { strictTools: false },
    body: { tools: [tool("a", { strict: true }), tool("b")] },
    changes: { tools: [tool("a"), tool("b")] },
    losses: ["dropped:tools[0].function.strict"],
  },
  {
    what: "a schema becomes JSON mode and a sentence",
    traits: { jsonSchema: "json-object" },
    body: { response_format: { type: "json_schema", json_schema: { name: "x", schema } } },
    changes: {
      response_format: { type: "json_object" },
      messages: [
        { role: "system", content: `${PROMPT}, that fits this JSON schema:\n{"type":"object"}` },
        ...hello,
      ],
    },
    losses: ["downgraded:response_format"],
  },
  {
    what: "JSON mode becomes a sentence",
    traits: { jsonMode: false },
    body: { response_format: { type: "json_object" } },
    changes: { response_format: undefined, messages: [{ role: "system", content: `${PROMPT}.` }, ...hello] },
    losses: ["downgraded:response_format"],
  },
  {
    what: "images",
    traits: { images: false },
    body: {
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }] },
      ],
    },
    changes: { messages: [{ role: "user", content: [{ type: "text", text: "[image omitted]" }] }] },
    losses: ["dropped:messages[0].content[0]"],
  },
  {
    what: "a later system message is user text, which is no loss",
    traits: { systemPlacement: "first-only" },
    body: { messages: [...hello, { role: "system", content: "Now" }] },
    changes: {
      messages: [...hello, { role: "user", content: "<system-reminder>\nNow\n</system-reminder>" }],
    },
  },
  {
    what: "a developer message is a system message, which is no loss",
    traits: { developerRole: false },
    body: { messages: [{ role: "developer", content: "Be brief" }, ...hello] },
    changes: { messages: [{ role: "system", content: "Be brief" }, ...hello] },
  },
  {
    what: "reasoning_effort",
    traits: { reasoningEffort: false },
    body: { reasoning_effort: "low" },
    changes: { reasoning_effort: undefined },
    losses: ["dropped:reasoning_effort"],
  },
  {
    what: "reasoning of earlier turns",
    traits: { reasoningReplay: "forbidden" },
    body: { messages: [...hello, { role: "assistant", content: "Hi", reasoning_content: "hm" }, ...hello] },
    changes: { messages: [...hello, { role: "assistant", content: "Hi" }, ...hello] },
    losses: ["dropped:messages[1].reasoning_content"],
  },
];

describe("a host that lacks something gets", () => {
  for (const { what, traits, body, changes, losses = [] } of ROWS)
    test(what, () => {
      const given: JsonObject = { model: "m", messages: hello, ...body };
      const copy = structuredClone(given);
      const context = makeContext({ traits, sameFormat: true });
      const fitted = fit(given, context);
      const wanted = Object.fromEntries(
        Object.entries({ ...given, ...changes }).filter(([, value]) => value !== undefined),
      );
      expect(fitted).toEqual(wanted as JsonObject);
      expect(context.losses.map(({ code, path }) => `${code}:${path}`)).toEqual(losses);
      expect(given).toEqual(copy);
    });
});

test("members that a host takes are the same values, so that their bytes are sent unchanged", () => {
  for (const { traits } of ROWS) {
    const given: JsonObject = {
      model: "m",
      stream: true,
      messages: [{ role: "system", content: "Be brief" }, ...hello],
      temperature: 0.5,
      stop: ["a"],
      tools: [tool("a")],
    };
    const fitted = fit(given, makeContext({ traits }));
    for (const name of Object.keys(given))
      if (!(name === "stream" && traits.streaming === false) && !(name === "tools" && traits.tools === false))
        expect(fitted[name]).toBe(given[name]!);
  }
});

test("the output limit has the name that the config says, in both directions", () => {
  for (const [from, to] of [
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ] as const) {
    const context = makeContext({ maxTokensField: to });
    expect(fit({ messages: hello, [from]: 7 }, context)).toEqual({ messages: hello, [to]: 7 });
    expect(context.losses).toEqual([]);
  }
});

describe("a request has to be translated", () => {
  const target = (traits: Traits) => ({ ...makeContext({ traits }).target, fitsNative: true as const });
  const history = (id: string) => ({ messages: [{ role: "assistant", tool_calls: [{ ...call, id }] }] });
  const allowed = { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [] } } };
  const CASES: readonly [string, Traits, JsonObject, boolean][] = [
    ["for more stop sequences than the host takes", { maxStop: 1 }, { stop: ["a", "b"] }, true],
    ["not for as many as it takes", { maxStop: 2 }, { stop: ["a", "b"] }, false],
    ["for one that a host without any cannot take", { maxStop: 0 }, { stop: "a" }, true],
    ["not where the config does not say how many", {}, { stop: ["a", "b", "c", "d", "e"] }, false],
    ["for ids of calls that the host refuses", { toolIds: "mistral" }, history("call_1"), true],
    ["not for ids that it takes", { toolIds: "mistral" }, history("a1B2c3D4e"), false],
    ["for tools where reasoning has to come back", { reasoningReplay: "required" }, { tools: [call] }, true],
    [
      "for earlier calls where reasoning has to come back",
      { reasoningReplay: "required" },
      history("c"),
      true,
    ],
    ["not for a conversation without calls", { reasoningReplay: "required" }, { messages: hello }, false],
    ["for a choice among tools that cannot be forced", { forcedToolChoice: false }, allowed, true],
  ];
  for (const [what, traits, body, wanted] of CASES)
    test(what, () => expect(mustTranslate(target(traits), () => body)).toBe(wanted));

  test("never for a host whose traits only its plugin states", () => {
    const { target: plain } = makeContext({ traits: { maxStop: 0, toolIds: "mistral" } });
    const unread = () => {
      throw new Error("the body was parsed");
    };
    expect(mustTranslate(plain, unread)).toBe(false);
  });
});
