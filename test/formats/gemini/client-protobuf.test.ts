/** Forms of a request that only readers of protobuf's JSON accept, as Google does. */
import { expect, test } from "bun:test";
import type { ClientCodec } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { makeContext } from "../../helpers/codec-context.ts";

const client: ClientCodec = geminiFormat.client!;

function decode(body: JsonObject) {
  client.request.checkRequest(body);
  return client.codec.decodeRequest(body, makeContext({ model: "m" }));
}

const WEATHER = { name: "get_weather", parameters: { type: 6, properties: { city: { type: 1 } } } };

test("one object stands for a list of one: contents, parts, tools and functionDeclarations", () => {
  const single = decode({
    contents: { role: "user", parts: { text: "Hi" } },
    systemInstruction: { parts: { text: "Be brief." } },
    tools: { functionDeclarations: WEATHER },
  });
  const listed = decode({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [{ functionDeclarations: [WEATHER] }],
  });
  expect(single).toEqual(listed);
  expect(single.turns.map(({ role }) => role)).toEqual(["system", "user"]);
});

test("types of a schema by their numbers are types of JSON Schema", () => {
  const [tool] = decode({
    contents: [{ parts: [{ text: "Hi" }] }],
    tools: [{ functionDeclarations: [WEATHER] }],
  }).tools;
  expect(tool!.parameters).toEqual({ type: "object", properties: { city: { type: "string" } } });
});

test("one object in place of a list is checked like the list", () => {
  expect(() => client.request.checkRequest({ contents: { role: "user", parts: { text: 7 } } })).toThrow(
    "Invalid 'contents[0].parts[0].text'",
  );
});
