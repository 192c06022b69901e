/** Recorded answers of all vendors that speak the format, read by the upstream codec. */
import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { parseFrames } from "../../../src/stream/sse.ts";
import { textOf } from "../../helpers/describe-events.ts";
import {
  answerBytes,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../../helpers/recordings.ts";
import { readBody, readFrames, upstream } from "./upstream.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const recorded = recordings({ api: "responses" });
const answered = recorded.filter(({ response }) => response.status === 200);
const isStream = ({ framing }: Recording) => framing === "sse";

/** What a reader must get out of an answer. */
interface Gist {
  text: string;
  refusal: string;
  reasoning: string;
  sealed: string[];
  calls: unknown[];
  tokens: unknown[];
}

/** The gist of complete items, read here without the codec. */
function gistOf(items: readonly JsonObject[], usage: unknown): Gist {
  const messages = items.filter(({ type }) => type === "message");
  const reasoning = items.filter(({ type }) => type === "reasoning");
  const counts = isObject(usage as JsonObject) ? (usage as JsonObject) : {};
  const details = counts.input_tokens_details as JsonObject | undefined;
  const cached = Number(details?.cached_tokens ?? 0) + Number(details?.cache_write_tokens ?? 0);
  const said = (kind: string, member: string) =>
    messages
      .map(({ content }) =>
        parts(content)
          .filter(({ type }) => type === kind)
          .map((part) => part[member])
          .join(""),
      )
      .join("");
  return {
    text: said("output_text", "text"),
    refusal: said("refusal", "refusal"),
    reasoning: reasoning
      .map(({ summary, content }) => {
        const texts = parts(summary).length > 0 ? parts(summary) : parts(content);
        return texts
          .map((part) => String(part.text ?? ""))
          .filter((text) => text !== "")
          .join("\n\n");
      })
      .join(""),
    sealed: reasoning.flatMap(({ encrypted_content: sealed }) =>
      typeof sealed === "string" && sealed ? [sealed] : [],
    ),
    calls: items
      .filter(({ type }) => type === "function_call" || type === "custom_tool_call")
      .map(({ type, name, namespace, input, arguments: args }) => [
        namespace ? `${String(namespace)}__${String(name)}` : name,
        type === "function_call" ? parseJson(String(args || "{}")) : input,
      ]),
    tokens: [Number(counts.input_tokens ?? 0) - cached, counts.output_tokens ?? 0, cached],
  };
}

function parts(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function gistOfEvents(events: readonly ChatEvent[]): Gist {
  const end = events.at(-1);
  const usage = end?.type === "message-end" ? end.usage : undefined;
  return {
    text: textOf(events),
    refusal: textOf(events, "refusal"),
    reasoning: textOf(events, "reasoning"),
    sealed: events.flatMap((event) =>
      event.type === "block-end" && event.signature ? [event.signature] : [],
    ),
    calls: events.flatMap((event) => {
      if (event.type !== "block-start" || event.block.type !== "tool-call") return [];
      const input = events
        .map((one) => (one.type === "block-delta" && one.index === event.index ? one.delta : ""))
        .join("");
      return [[event.block.name, event.block.kind === "function" ? parseJson(input || "{}") : input]];
    }),
    tokens: [usage?.input, usage?.output, usage && usage.cacheRead + usage.cacheWrite],
  };
}

/** The items of a stream up to its first terminal event: the finished ones by index, else those of the terminal event. */
function itemsOf(data: readonly JsonObject[]): { items: JsonObject[]; usage: unknown } | undefined {
  const done = new Map<number, JsonObject>();
  const deltas = data.filter(({ type }) => String(type).endsWith("_text.delta")).length;
  for (const event of data) {
    if (event.type === "response.output_item.done")
      done.set(Number(event.output_index), event.item as JsonObject);
    if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
    const response = event.response as JsonObject;
    const listed = parts(response.output);
    return {
      items: listed.length > 0 && done.size === 0 && deltas === 0 ? listed : [...done.values()],
      usage: response.usage,
    };
  }
  return undefined;
}

describe("recorded streams say after decoding what their items say", () => {
  for (const recording of answered.filter(isStream))
    test(`${recording.vendor} ${recording.id}`, () => {
      const frames = parseFrames(Buffer.concat([answerBytes(recording), Buffer.from("\n\n")]));
      const data = frames.map((frame) => parseJson(frame.data)).filter(isObject);
      const expected = itemsOf(data);
      if (!expected) {
        expect(() => readFrames(frames)).toThrow();
        return;
      }
      expect(gistOfEvents(readFrames(frames))).toEqual(gistOf(expected.items, expected.usage));
    });
});

describe("recorded JSON answers say after decoding what they said", () => {
  for (const recording of answered.filter((one) => !isStream(one)))
    test(`${recording.vendor} ${recording.id}`, () => {
      const body = parseJson(recording.response.body ?? "") as JsonObject;
      if (body.status === "queued" || body.status === "in_progress" || !Array.isArray(body.output)) {
        expect(() => readBody(body)).toThrow();
        return;
      }
      expect(gistOfEvents(readBody(body))).toEqual(gistOf(parts(body.output), body.usage));
    });
});

describe("recorded refusals keep their class and have a sentence", () => {
  for (const { response, id, vendor } of recorded.filter(({ response }) => response.status >= 400))
    test(`${vendor} ${id} ${response.status}`, () => {
      const error = upstream.codec.decodeError(
        response.status,
        new Headers(response.headers),
        response.body ?? "",
      );
      const known = ["invalid-request", "not-found", "upstream-auth"];
      expect(response.status === 401 ? known.slice(2) : known).toContain(error.kind);
      expect(error.message).not.toMatch(/^The provider failed with status/);
    });
});
