/**
 * Captured requests of gemini-cli and of Google's SDK, at an upstream of each other format: everything they say arrives, and
 * the answer is what a reader of Google's records gets.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import { type Capture, captures, haveCaptures, NO_CAPTURES } from "../helpers/captures.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";
import { jobLanguage } from "./job/provider.ts";

if (!haveCaptures) console.log(NO_CAPTURES);

const CAPTURES = ["generateContent", "streamGenerateContent"].flatMap((method) =>
  captures(`:${method}`, /^(gemini|google)/),
);

/** The values of a member at any depth. */
function valuesOf(value: Json | undefined, name: string): Json[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, name));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === name && inner != null ? [inner] : valuesOf(inner, name),
  );
}

const objects = (values: Json[]): JsonObject[] => values.filter(isObject);

/** What must be in the request for the upstream, as text. */
function said(body: JsonObject): string[] {
  const texts = [...valuesOf(body.contents, "text"), ...valuesOf(body.systemInstruction, "text")];
  const calls = objects(valuesOf(body.contents, "functionCall"));
  const declared = objects(valuesOf(body.tools, "functionDeclarations").flat());
  const outputs = objects(valuesOf(body.contents, "functionResponse")).flatMap(({ response }) =>
    valuesOf(response, "output"),
  );
  return [...texts, ...outputs, ...[...calls, ...declared].map(({ name }) => name!)].map(String);
}

const UPPER_CASE_TYPE = /"type":"(?:OBJECT|STRING|INTEGER|NUMBER|BOOLEAN|ARRAY)"/;

test.skipIf(!haveCaptures)("there are captures of both clients", () => {
  expect(CAPTURES.filter(({ name }) => name.startsWith("gemini")).length).toBeGreaterThan(4);
  expect(CAPTURES.filter(({ name }) => name.startsWith("google")).length).toBeGreaterThan(4);
});

for (const [format, model] of [
  ["chat-completions", "host/m"],
  ["messages", "anthropic/claude-opus-4-6"],
] as const)
  describe.skipIf(!haveCaptures)(`at an upstream of ${format}`, () => {
    let upstream: Upstream;
    let gateway: RunningGateway;

    beforeAll(async () => {
      const language = jobLanguage(format);
      upstream = startUpstream(({ body }) => {
        const asked = JSON.parse(body.toString("utf8")) as JsonObject;
        return language.write(
          { number: 0, reasoning: "Hm.", text: "Hello.", calls: [] },
          asked.stream === true,
        );
      });
      gateway = await startGateway({
        config: {
          providers: {
            ...(upstreamConfig({ anthropic: upstream.url }).providers as object),
            host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
          },
          aliases: { "gemini-*": model },
        },
      });
    });

    afterAll(async () => {
      await gateway.stop();
      upstream.stop();
    });

    const send = (capture: Capture) =>
      fetch(gateway.url + capture.path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-goog-api-client": "captured" },
        body: JSON.stringify(capture.body),
      });

    for (const capture of CAPTURES) {
      const { name, path } = capture;
      const body = capture.body as JsonObject;
      const hosted = objects((body.tools ?? []) as Json[]);
      const isRefused =
        hosted.length > 0 && hosted.every(({ functionDeclarations }) => functionDeclarations === undefined);
      if (isRefused) continue;
      test(`${name}: all it says arrives, and the answer can be read`, async () => {
        const response = await send(capture);
        const text = await response.text();
        expect([response.status, text]).toEqual([200, expect.any(String)]);
        const sent = upstream.requests.at(-1)!.body.toString("utf8");
        const arrived = JSON.stringify(JSON.parse(sent));
        expect(said(body).filter((word) => !arrived.includes(JSON.stringify(word).slice(1, -1)))).toEqual([]);
        expect(arrived).not.toMatch(UPPER_CASE_TYPE);
        const records = path.includes("alt=sse")
          ? parseFrames(Buffer.from(text)).map(({ data }) => JSON.parse(data) as JsonObject)
          : [JSON.parse(text) as JsonObject];
        expect(valuesOf(records, "text").join("")).toContain("Hello.");
        expect(valuesOf(records, "finishReason")).toEqual(["STOP"]);
        expect(records.at(-1)!.usageMetadata).toMatchObject({ totalTokenCount: expect.any(Number) });
      });
    }
  });
