/** Real traffic of the vendor, and what its command-line client sends. Neither is part of the repository. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { sanitiseSchema } from "../../../src/formats/shared/claude-schema.ts";
import { parseFrames } from "../../../src/stream/sse.ts";
import { answerBytes, haveRecordings, NO_RECORDINGS, recordings } from "../../helpers/recordings.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import {
  client,
  encode,
  requestContext,
  writeAnswer,
  readFrames,
  readBody,
  stream,
  upstream,
} from "./make.ts";
import { brokenRules, lostConstraints } from "./schema-rules.ts";
import { accumulate } from "./sdk.ts";

const CAPTURES = resolve(import.meta.dir, "../../../../shared/captures");
const haveCaptures = existsSync(CAPTURES);

const recorded = recordings({ api: "messages", vendors: ["anthropic"] });
const good = recorded.filter(({ response }) => response.status === 200);
const nameOf = ({ id, tags }: (typeof recorded)[number]) => `${id} ${tags.slice(0, 3).join(" ")}`;

const check: (body: Json) => void = client.request.checkRequest;
const optionsFor = (model: Json | undefined) => ({
  format: "messages",
  model: typeof model === "string" ? model : "claude-sonnet-4-5",
});

/** What must survive of a message: text, reasoning, calls, the reason and the counts. */
function gist(message: JsonObject) {
  const blocks = message.content as JsonObject[];
  const usage = message.usage as JsonObject;
  return {
    text: blocks.map(({ text }) => (typeof text === "string" ? text : "")).join(""),
    thinking: blocks.flatMap(({ type, thinking, signature, data }) =>
      String(type).endsWith("thinking") ? [thinking ?? "", signature ?? "", data ?? ""] : [],
    ),
    calls: blocks.flatMap(({ type, id, name, input }) => (type === "tool_use" ? [[id, name, input]] : [])),
    others: blocks.flatMap(({ type, citations: _citations, ...rest }) =>
      ["text", "thinking", "redacted_thinking", "tool_use"].includes(String(type)) ? [] : [{ type, ...rest }],
    ),
    reason: [message.stop_reason, message.stop_sequence],
    tokens: [
      usage.input_tokens,
      usage.output_tokens,
      usage.cache_read_input_tokens ?? 0,
      usage.cache_creation_input_tokens ?? 0,
    ],
  };
}

if (!haveRecordings) console.log(NO_RECORDINGS);
if (!haveCaptures)
  console.log("The captures are not beside the repository (../shared/captures): nothing to read.");

describe("recorded answers, decoded and written again", () => {
  for (const recording of good.filter(({ framing }) => framing === "json"))
    test(nameOf(recording), () => {
      const body = parseJson(recording.response.body ?? "") as JsonObject;
      const call = requestContext(optionsFor(recording.model));
      const events = readBody(body, call);
      checkEvents(events);
      expect(gist(writeAnswer(events, call)) as unknown).toEqual(gist(body));
    });

  for (const recording of good.filter(
    ({ framing, tags }) => framing === "sse" && !tags.includes("sdk_rejects"),
  ))
    test(`${nameOf(recording)} (stream)`, async () => {
      const frames = parseFrames(Buffer.concat([answerBytes(recording), Buffer.from("\n\n")]));
      const call = requestContext(optionsFor(recording.model));
      const events = readFrames(frames, call);
      checkEvents(events);
      const direct = await accumulate(frames);
      const through = await accumulate(stream(events, call));
      expect(gist(through) as unknown).toEqual(gist(direct));
    });
});

describe("recorded requests", () => {
  for (const recording of good.filter(({ request }) => request?.body))
    test(nameOf(recording), () => {
      const body = recording.request!.body as JsonObject;
      const context = requestContext(optionsFor(body.model));
      check(body);
      const request = client.codec.decodeRequest(body, context);
      const sent = upstream.codec.encodeRequest(request, context);
      check(sent);
      expect(sent.max_tokens).toBe(body.max_tokens!);
      expect((sent.messages as Json[]).length).toBeGreaterThan(0);
      for (const { code } of context.losses) expect(["dropped", "converted", "synthesized"]).toContain(code);
    });
});

describe("recorded failures", () => {
  for (const { response, id } of recorded.filter(({ response }) => response.status >= 400))
    test(`${id} ${response.status}`, () => {
      const error = upstream.codec.decodeError(
        response.status,
        new Headers(response.headers),
        response.body ?? "",
      );
      const told = client.codec.encodeError(error, "req_1");
      expect(told.status).toBe(response.status === 401 ? 502 : response.status);
      expect(error.kind).not.toBe("internal");
    });
});

test.if(haveRecordings)("schemas of real clients keep the rules and forget no constraint", () => {
  const schemas = recordings({ api: "chat" })
    .flatMap(({ request }) => schemasIn(request?.body as JsonObject | undefined))
    .concat(recorded.flatMap(({ request }) => schemasIn(request?.body as JsonObject | undefined)));
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  expect(distinct.length).toBeGreaterThan(50);
  for (const schema of distinct) {
    const { schema: clean, recursive } = sanitiseSchema(schema);
    if (recursive) continue;
    expect(brokenRules(clean)).toEqual([]);
    expect(lostConstraints(schema, JSON.stringify(clean).replaceAll("\\", ""))).toEqual([]);
  }
});

/** Schemas of tools and answers, in either format. */
function schemasIn(body: JsonObject | undefined): JsonObject[] {
  const tools = Array.isArray(body?.tools) ? body.tools.filter(isObject) : [];
  const format = isObject(body?.response_format) ? body.response_format.json_schema : undefined;
  const output = isObject(body?.output_config) ? body.output_config.format : undefined;
  return [...tools.map(({ function: declared }) => declared), ...tools, format, output]
    .filter(isObject)
    .flatMap(({ parameters, input_schema, schema }) => [parameters, input_schema, schema])
    .filter(isObject);
}

describe("what Claude Code sends", () => {
  const files = haveCaptures ? readdirSync(CAPTURES).filter((file) => /^claude.*\.jsonl$/.test(file)) : [];
  for (const file of files)
    test(`${file}`, () => {
      for (const line of readFileSync(join(CAPTURES, file), "utf8").split("\n")) {
        const { body } = (parseJson(line) ?? {}) as { body?: JsonObject };
        if (!body) continue;
        check(body);
        const context = requestContext({ format: "messages", model: "some-chat-model" });
        const request = client.codec.decodeRequest(body, context);
        expect(context.losses).toEqual([]);
        const kept = JSON.stringify(request.turns);
        for (const text of systemTexts(body)) expect(kept).toContain(JSON.stringify(text));
        // Through this format again it says the same to any model.
        const { body: sent } = encode(request, { format: "messages", model: "claude-opus-5-5" });
        check(sent);
        for (const text of systemTexts(body)) expect(JSON.stringify(sent)).toContain(JSON.stringify(text));
      }
    });

  function systemTexts(body: JsonObject): string[] {
    const turns = (body.messages as JsonObject[]).filter(({ role }) => role === "system");
    return [body.system, ...turns.map(({ content }) => content)].flatMap((content) =>
      typeof content === "string"
        ? [content]
        : Array.isArray(content)
          ? content.filter(isObject).map(({ text }) => String(text))
          : [],
    );
  }
});
