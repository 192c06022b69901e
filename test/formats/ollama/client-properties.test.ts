/** What must hold for every request of a client of Ollama's API, valid or not. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../../../src/formats/ollama/index.ts";
import { RequestBody } from "../../../src/server/request-body.ts";
import { makeContext } from "../../helpers/codec-context.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

/** Values of every kind, some of them valid. */
const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1, 1.5, "", "json", "user", [], {}, [{}], { name: "f" }),
  fc.string({ maxLength: 50 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** Members without which most objects would be invalid. */
const REQUIRED = ["model", "messages", "prompt", "role", "content", "function", "name"];

/** An object with some of these members; each value is mostly of the right kind. */
function members(right: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  const mostly = Object.fromEntries(
    Object.entries(right).map(([name, value]) => [
      name,
      fc.oneof({ weight: 150, arbitrary: value }, { weight: 1, arbitrary: odd }),
    ]),
  );
  return fc.record(mostly, {
    requiredKeys: REQUIRED.filter((name) => name in right),
  }) as fc.Arbitrary<JsonObject>;
}

const word = fc.constantFrom("f", "g", "a long name of more than thirty-two bytes");
const text = fc.string({ maxLength: 60 });
const image = fc.constantFrom("iVBORw0KGgo=", "data:image/jpeg;base64,/9j/", "R0lGODlh");
const free = fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>);
const call = members({ id: word, function: members({ name: word, arguments: free }) });
const message = members({
  role: fc.constantFrom("system", "user", "assistant", "tool"),
  content: text,
  thinking: text,
  images: fc.array(image, { maxLength: 2 }),
  tool_calls: fc.array(call, { maxLength: 3 }),
  tool_name: word,
  tool_call_id: word,
});
const common = {
  model: word,
  stream: fc.boolean(),
  format: fc.oneof(fc.constantFrom<Json>("", "json"), free),
  think: fc.constantFrom<Json>(true, false, "low", "max"),
  keep_alive: fc.constantFrom<Json>(0, -1, "5m"),
  options: members({
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    num_predict: fc.integer({ min: -2, max: 99 }),
    stop: fc.array(text, { maxLength: 3 }),
    num_ctx: fc.integer(),
    seed: fc.integer(),
  }),
};
const chat = members({
  ...common,
  messages: fc.array(message, { maxLength: 5 }),
  tools: fc.array(members({ type: word, function: members({ name: word, parameters: free }) }), {
    maxLength: 2,
  }),
});
const prompt = members({ ...common, prompt: text, system: text, images: fc.array(image, { maxLength: 2 }) });

/** What a function throws; anything but a GatewayError fails the test. */
function refusalOf(run: () => void): GatewayError | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.kind === "invalid-request") return thrown;
    throw thrown;
  }
}

describe.each([
  ["a chat", ollamaFormat.client, chat],
  ["a prompt", ollamaGenerateFormat.client, prompt],
] as const)("%s", (_name, client, request) => {
  const check = (body: JsonObject) => client.request.checkRequest(body);

  test("is decoded or refused as invalid, and stays as it is", () => {
    let decoded = 0;
    withinBudget(
      fc.property(request, (body) => {
        const before = JSON.stringify(body);
        if (refusalOf(() => check(body))) return;
        if (!refusalOf(() => client.codec.decodeRequest(body, makeContext()))) decoded++;
        expect(JSON.stringify(body)).toBe(before);
      }),
    );
    expect(decoded).toBeGreaterThan(2);
  });

  test("loses no text and no call", () => {
    withinBudget(
      fc.property(request, (body) => {
        if (refusalOf(() => check(body))) return;
        let turns: string | undefined;
        if (
          refusalOf(
            () => void (turns = JSON.stringify(client.codec.decodeRequest(body, makeContext()).turns)),
          )
        )
          return;
        const texts = [body, ...((body.messages ?? []) as JsonObject[])].flatMap((one) => [
          one.content,
          one.prompt,
          one.system,
        ]);
        for (const one of texts)
          if (typeof one === "string") expect(turns).toContain(JSON.stringify(one).slice(1, -1));
      }),
    );
  });

  test("is valid if the shortened body is", () => {
    withinBudget(
      fc.property(request, (body) => {
        const { short } = new RequestBody(Buffer.from(JSON.stringify(body)), 128);
        if (short && !refusalOf(() => check(short))) expect(refusalOf(() => check(body))).toBeUndefined();
      }),
    );
  });
});
