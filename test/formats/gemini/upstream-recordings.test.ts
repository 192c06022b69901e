/** Real answers of Google's hosts, which are not part of the repository. */
import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { nativeSchema } from "../../../src/formats/gemini/upstream/schema-doors.ts";
import { SseParser } from "../../../src/stream/sse.ts";
import { makeContext } from "../../helpers/codec-context.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import {
  answerBytes,
  CHUNKINGS,
  cutInto,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../../helpers/recordings.ts";
import { contentOf, PLAIN, readRecords, upstream } from "./make.ts";

const recorded = recordings({ api: "gemini", vendors: ["gemini", "vertex"] });
const good = recorded.filter(({ response }) => response.status === 200);
const nameOf = ({ id, model, framing }: Recording) => `${id} ${model} ${framing}`;

if (!haveRecordings) console.log(NO_RECORDINGS);

/** The records of an answer, as Google's own SDK would read them. */
function recordsOf(recording: Recording): JsonObject[] {
  const text = answerBytes(recording).toString();
  if (recording.framing !== "sse") {
    const body = JSON.parse(text) as Json;
    return (Array.isArray(body) ? body : [body]).filter(isObject);
  }
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => JSON.parse(line.slice(5)) as JsonObject);
}

const context = (model: string | null, request?: ChatRequest) =>
  makeContext({ provider: "gemini", model: model ?? "gemini-2.5-flash", request });

function read(recording: Recording): ChatEvent[] {
  const of = context(recording.model);
  const records = recordsOf(recording);
  return recording.framing === "json" ? upstream.codec.readAnswer(records[0]!, of) : readRecords(records, of);
}

/** What the records of candidate 0 say. */
function ownReading(records: readonly JsonObject[]) {
  const candidates = records.flatMap(({ candidates: list }) =>
    Array.isArray(list) ? list.filter(isObject).filter(({ index = 0 }) => index === 0) : [],
  );
  const parts = candidates.flatMap(({ content }) =>
    isObject(content) && Array.isArray(content.parts) ? content.parts.filter(isObject) : [],
  );
  const joined = (thought: boolean) =>
    parts.map((part) => ((part.thought === true) === thought ? String(part.text ?? "") : "")).join("");
  const counts: JsonObject = Object.assign({}, ...records.map(({ usageMetadata }) => usageMetadata));
  const number = (name: string) => (typeof counts[name] === "number" ? counts[name] : 0);
  return {
    text: joined(false),
    thoughts: joined(true),
    calls: parts.flatMap(({ functionCall: call }) =>
      isObject(call) && typeof call.name === "string" && call.willContinue !== true
        ? [{ name: call.name, args: call.args ?? {} }]
        : [],
    ),
    signatures: parts.flatMap(({ thoughtSignature: signature, text, ...part }) =>
      typeof signature === "string" && (text !== undefined || part.functionCall) ? [signature] : [],
    ),
    input: number("promptTokenCount") + number("toolUsePromptTokenCount"),
    output: number("candidatesTokenCount") + number("thoughtsTokenCount"),
  };
}

/** What the events say, in the same words. */
function gist(events: readonly ChatEvent[]) {
  const { blocks, end } = contentOf(events);
  const textOf = (type: string) => blocks.map((one) => (one.block.type === type ? one.text : "")).join("");
  return {
    text: textOf("text"),
    thoughts: textOf("reasoning"),
    calls: blocks.flatMap(({ block, text }) =>
      block.type === "tool-call" ? [{ name: block.name, args: JSON.parse(text) as Json }] : [],
    ),
    signatures: blocks.flatMap(({ block, signature }) => {
      const sealed = block.type === "reasoning" ? (signature ?? block.redacted) : undefined;
      return sealed === undefined || sealed.startsWith("{") ? [] : [sealed];
    }),
    input: end.usage.input + end.usage.cacheRead,
    output: end.usage.output,
  };
}

const inPieces = (recording: Recording) => answerBytes(recording).includes("willContinue");

describe("a recorded answer says the same in canonical events", () => {
  for (const recording of good.filter((one) => !inPieces(one)))
    test(nameOf(recording), () => {
      const events = read(recording);
      checkEvents(events);
      expect(gist(events) as unknown).toEqual(ownReading(recordsOf(recording)));
    });
});

describe("a recorded stream is the same events at every chunking", () => {
  for (const recording of good.filter(({ framing }) => framing === "sse"))
    test(nameOf(recording), () => {
      const bytes = answerBytes(recording);
      for (const chunking of CHUNKINGS) {
        const parser = new SseParser();
        const reader = upstream.codec.readStream(context(recording.model));
        const frames = cutInto(bytes, chunking).flatMap((piece) => parser.push(piece));
        expect([...frames.flatMap((frame) => reader.push(frame)), ...reader.end()]).toEqual(read(recording));
      }
    });
});

test.if(haveRecordings)("the three streams with arguments in pieces give whole calls", () => {
  const calls = good.filter(inPieces).map((recording) => {
    const events = read(recording);
    checkEvents(events);
    expect(contentOf(events).end.reason.kind).toBe("tool-calls");
    const [first] = contentOf(events).blocks;
    expect(first).toMatchObject({ block: { type: "reasoning" } });
    expect(first?.signature).toMatch(/./);
    return gist(events).calls;
  });
  expect(calls).toHaveLength(3);
  const byName = calls.flat().toSorted((a, b) => a.name.localeCompare(b.name));
  expect(byName.map(({ name }) => name)).toEqual(["cookRecipe", "getWeather", "getWeather", "writeItems"]);
  expect(byName.filter(({ name }) => name === "getWeather").map(({ args }) => args)).toEqual([
    { location: "Boston" },
    { location: "San Francisco" },
  ]);
  const items = byName.find(({ name }) => name === "writeItems")!.args as JsonObject;
  expect(items.operations).toHaveLength(2);
  expect(Object.keys(byName[0]!.args as JsonObject)).not.toEqual([]);
});

test.if(haveRecordings)(
  "the streams with two finish reasons end once, with the parts behind the first",
  () => {
    const twice = good.filter(
      (one) =>
        one.framing === "sse" &&
        recordsOf(one).filter(({ candidates }) => JSON.stringify(candidates ?? []).includes('"finishReason"'))
          .length > 1,
    );
    expect(twice).toHaveLength(2);
    for (const recording of twice) {
      const events = read(recording);
      expect(events.filter(({ type }) => type === "message-end")).toHaveLength(1);
      expect(gist(events).text).toBe(ownReading(recordsOf(recording)).text);
    }
  },
);

test.if(haveRecordings)("a recorded call of a tool that the request does not declare is an error", () => {
  const unexpected = good.filter((one) => answerBytes(one).includes('"UNEXPECTED_TOOL_CALL"'));
  expect(unexpected).toHaveLength(3);
  for (const recording of unexpected) {
    const [body] = recordsOf(recording);
    expect(() => upstream.codec.readAnswer(body!, context(recording.model, PLAIN))).toThrow(
      "UNEXPECTED_TOOL_CALL",
    );
    const tools = [{ kind: "function" as const, name: "list_files" }];
    const events = upstream.codec.readAnswer(body!, context(recording.model, { ...PLAIN, tools }));
    expect(contentOf(events).end.reason).toEqual({ kind: "tool-calls", raw: "UNEXPECTED_TOOL_CALL" });
  }
});

describe("a recorded failure", () => {
  for (const { id, response } of recorded.filter((one) => one.response.status >= 400))
    test(`${id} ${response.status} has a kind and a sentence`, () => {
      const error = upstream.codec.decodeError(
        response.status,
        new Headers(response.headers),
        response.body ?? "",
      );
      const kinds: Record<number, string> = { 400: "invalid-request", 404: "not-found", 429: "rate-limited" };
      expect(error.kind as string).toBe(kinds[response.status]!);
      expect(error.message).toMatch(/\w/);
    });
});

test.if(haveRecordings)(
  "schemas of real requests pass the native door unchanged but for what Google refuses",
  () => {
    const schemas = recorded.flatMap(({ request }) => schemasIn(request?.body ?? {}));
    expect(schemas.length).toBeGreaterThan(50);
    for (const schema of schemas) {
      const sent = JSON.stringify(nativeSchema(schema));
      if (/"(?:\$schema|\$id|\$comment|const|\$ref)":|"type":(?:\[)?"[A-Z]/.test(JSON.stringify(schema)))
        continue;
      expect(sent).toBe(JSON.stringify(schema));
    }
  },
);

function schemasIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  if (!isObject(value as Json)) return [];
  return Object.entries(value as JsonObject).flatMap(([name, inner]) =>
    /^(?:parameters|responseSchema|parametersJsonSchema|responseJsonSchema)$/.test(name) &&
    isObject(inner ?? null)
      ? [inner as JsonObject]
      : schemasIn(inner),
  );
}
