/** What must hold for every request of a Google client, valid or not. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { RequestBody } from "../../../src/server/request-body.ts";
import { makeContext } from "../../helpers/codec-context.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const { client } = geminiFormat;

/** Values of every kind, some of them valid. */
const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1, 1.5, "", "AUTO", "model", [], {}, [{}], { parts: [] }),
  fc.string({ maxLength: 50 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** Members without which most objects would be invalid. */
const REQUIRED = ["contents", "parts", "name", "data", "fileUri"];

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
const part = members({
  text,
  thought: fc.boolean(),
  thoughtSignature: fc.constantFrom("c2ln", "skip_thought_signature_validator", ""),
  inlineData: members({
    mimeType: fc.constantFrom("image/png", "text/plain", "video/mp4"),
    data: fc.constant("AAAA"),
  }),
  fileData: members({
    mimeType: text,
    fileUri: fc.constantFrom("https://files.example/a", "http://h:8080/b?c=d#e", "gs://bucket/name"),
  }),
  functionCall: members({
    id: word,
    name: word,
    args: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>),
  }),
  functionResponse: members({
    id: word,
    name: word,
    response: fc.dictionary(fc.constantFrom("output", "error", "x"), odd),
  }),
  executableCode: members({ code: text, language: text }),
});
const content = members({
  role: fc.constantFrom("user", "model", "function"),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
});
const request = members({
  contents: fc.array(content, { minLength: 1, maxLength: 5 }),
  systemInstruction: content,
  tools: fc.array(
    members({
      functionDeclarations: fc.array(members({ name: word, parameters: fc.constant({ type: "OBJECT" }) }), {
        maxLength: 2,
      }),
      googleSearch: fc.constant({}),
    }),
    { maxLength: 2 },
  ),
  toolConfig: members({
    functionCallingConfig: members({
      mode: fc.constantFrom("AUTO", "ANY", "NONE"),
      allowedFunctionNames: fc.array(word),
    }),
  }),
  generationConfig: members({
    temperature: fc.constantFrom(0, 1, 2),
    topK: fc.nat({ max: 99 }),
    maxOutputTokens: fc.integer({ min: 1, max: 99 }),
    stopSequences: fc.array(text),
    thinkingConfig: members({
      thinkingBudget: fc.integer({ min: -1, max: 99 }),
      includeThoughts: fc.boolean(),
    }),
  }),
});

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

const check = (body: JsonObject) => client.request.checkRequest(body);
const decode = (body: JsonObject) =>
  client.codec.decodeRequest({ ...body, model: "m", stream: false }, makeContext());

test("a request is decoded or refused as invalid, and stays as it is", () => {
  let decoded = 0;
  withinBudget(
    fc.property(request, (body) => {
      const before = JSON.stringify(body);
      if (refusalOf(() => check(body))) return;
      if (!refusalOf(() => decode(body))) decoded++;
      expect(JSON.stringify(body)).toBe(before);
    }),
  );
  expect(decoded).toBeGreaterThan(2);
});

test("no text, call or result of a valid request is lost", () => {
  withinBudget(
    fc.property(request, (body) => {
      if (refusalOf(() => check(body))) return;
      let blocks: string | undefined;
      if (refusalOf(() => void (blocks = JSON.stringify(decode(body).turns)))) return;
      const contents = [body.contents].flat() as JsonObject[];
      for (const { parts } of contents)
        for (const one of [parts ?? []].flat() as JsonObject[]) {
          if (typeof one.text === "string") expect(blocks).toContain(JSON.stringify(one.text).slice(1, -1));
          else if (one.functionCall != null && one.inlineData == null && one.fileData == null)
            expect(blocks).toContain(`"name":${JSON.stringify((one.functionCall as JsonObject).name)}`);
        }
    }),
  );
});

test("a request that the shortened body lets pass is valid", () => {
  withinBudget(
    fc.property(request, (body) => {
      const { short } = new RequestBody(Buffer.from(JSON.stringify(body)), 128);
      if (short && !refusalOf(() => check(short))) expect(refusalOf(() => check(body))).toBeUndefined();
    }),
  );
});
