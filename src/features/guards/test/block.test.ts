/** A guard that blocks, in every client format: before the provider is asked, before the first byte, and within a stream. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { APIS, EMAIL, eventsIn, LANES } from "../../../../test/helpers/guarded.ts";
import { post, Servers, textOf, WORD } from "./servers.ts";

setDefaultTimeout(60_000);

const SAID = "SAY something harmless that goes on for a while and only then";

const servers = new Servers();
const { upstreams, providers } = servers.speaking(["m", "r"]);
const find = [{ name: "word", pattern: WORD, longest: 10 }];
const gateway = await servers.gateway(
  {
    said: { find, do: "block", on: ["output"], models: ["*/m"] },
    refused: { find, do: "block", on: ["output"], models: ["*/r"], as: "refusal" },
    asked: { find: ["card"], do: "block", on: ["input"], models: ["*/m"] },
    quiet: { find: ["card"], do: "block", on: ["input"], models: ["*/r"], as: "refusal" },
  },
  { providers },
);

function ask(format: string, model: string, prompt: string, stream: boolean): Promise<Response> {
  const { path, body } = APIS[format]!;
  const { tools: _, ...plain } = body(model, stream, prompt);
  const texts = JSON.stringify(plain).replaceAll("4111 1111 1111 1111", "a card").replaceAll(EMAIL, "anna");
  return fetch(gateway.url + path(model, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: prompt.includes("4111") ? texts.replaceAll("CARD", "4111-1111-1111-1111") : texts,
  });
}

const STREAMS = [false, true];

describe("an answer that a guard blocks before its first text is an error with a status", () => {
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const stream of STREAMS) {
        const response = await ask(format, `p-${spoken}/m`, `SAY ${WORD} of 200`, stream);
        const text = await response.text();
        expect([stream, response.status]).toEqual([stream, 400]);
        expect(text).toContain("The guard");
        expect(text).not.toContain(WORD);
        expect(response.headers.get("x-should-retry") ?? "false").toBe("false");
      }
    });
});

describe("a stream that a guard cuts has what came before, and no end", () => {
  for (const [format, spoken] of LANES)
    for (const size of [1, 3, 200])
      test(`${format}, ${format === spoken ? "native" : "translated"}, pieces of ${size}`, async () => {
        const response = await ask(format, `p-${spoken}/m`, `${SAID} ${WORD} of ${size}`, true);
        const text = await textOf(response);
        expect(text).not.toContain(WORD);
        expect(text).toContain("The guard");
        // Pieces that came together are judged together: nothing had gone on.
        if (size < 200 && response.status !== 400) {
          expect(response.status).toBe(200);
          const read = APIS[format]!.read(eventsIn(text)).text;
          expect([read.length > SAID.length - 3, `${SAID} `.startsWith(read)]).toEqual([true, true]);
        }
        expect(text).not.toMatch(
          /\[DONE\]|message_stop|response\.completed|"finish_reason":"stop"|"done":true/,
        );
      });
});

describe("as a refusal, before and within a stream", () => {
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const [prompt, stream] of [
        [`SAY ${WORD} of 200`, false],
        [`SAY ${WORD} of 200`, true],
        [`${SAID} ${WORD} of 3`, true],
      ] as const) {
        const response = await ask(format, `p-${spoken}/r`, prompt, stream);
        const text = await response.text();
        expect([prompt, stream, response.status]).toEqual([prompt, stream, 200]);
        expect(text).not.toContain(WORD);
        expect(text).toContain("The guard");
        expect(text).toMatch(REFUSALS[format]!);
      }
    });
});

const REFUSALS: Readonly<Record<string, RegExp>> = {
  "chat-completions": /"finish_reason":"content_filter"/,
  messages: /"stop_reason":"refusal"/,
  responses: /"reason":"content_filter"/,
  gemini: /"finishReason":"SAFETY"/,
  ollama: /"done_reason":"[a-z_]+"/,
  "ollama-generate": /"done_reason":"[a-z_]+"/,
};

describe("a request that a guard blocks does not reach the provider", () => {
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      const asked = upstreams.reduce((sum, { requests }) => sum + requests.length, 0);
      for (const stream of STREAMS) {
        const prompt = "SAY 4111 CARD of 200";
        const response = await ask(format, `p-${spoken}/m`, prompt, stream);
        const body = (await response.json()) as JsonObject;
        expect([response.status, JSON.stringify(body).includes("1111-1111")]).toEqual([400, false]);
        const error = isObject(body["error"]) ? body["error"] : {};
        if (format === "chat-completions")
          expect(error).toMatchObject({ code: "blocked_by_guard", param: "messages[4].content" });
        const refused = await ask(format, `p-${spoken}/r`, prompt, stream);
        const text = await refused.text();
        expect([refused.status, text.includes("The guard")]).toEqual([200, true]);
        expect(text).toMatch(REFUSALS[format]!);
      }
      expect(upstreams.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(asked);
    });
});

test("with uninspected: block, content that weir cannot read is refused", async () => {
  const strict = await servers.gateway({ uninspected: "block", pii: { find: ["email"], do: "replace" } });
  const ask = (content: Json) =>
    post(`${strict.url}/v1/chat/completions`, { model: "mock/chat", messages: [{ role: "user", content }] });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const refused = await ask([{ type: "text", text: "See" }, image]);
  const { error } = (await refused.json()) as { error: JsonObject };
  expect([refused.status, error["code"], error["param"]]).toEqual([
    ...[400, "blocked_by_guard", "messages[0].content[1].image_url.url"],
  ]);
  expect((await ask("See")).status).toBe(200);
});

test("a comment at the end of a stream has what was not known at its beginning", async () => {
  const masking = await servers.gateway({ pii: { find: ["email"], do: "mask", on: ["output"] } });
  const response = await post(`${masking.url}/v1/chat/completions`, {
    model: "mock/echo",
    stream: true,
    messages: [{ role: "user", content: "Write to anna@example.com and to bob@example.com." }],
  });
  const text = await response.text();
  expect(text).toContain("[EMAIL]");
  expect(text).not.toContain("@example.com");
  expect(text).toEndWith("data: [DONE]\n\n: weir-guards pii=masked:2\n\n");
});
