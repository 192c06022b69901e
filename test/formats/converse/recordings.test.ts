/** Recorded exchanges with Bedrock: answers read by the codec and by the AWS SDK, requests held to what was accepted. */
import { describe, expect, test } from "bun:test";
import { ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { eventStream } from "../../../src/stream/framing.ts";
import { bedrockClient } from "../../helpers/bedrock-client.ts";
import { awsStream } from "../../helpers/aws-event-stream.ts";
import { textOf } from "../../helpers/describe-events.ts";
import {
  answerBytes,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../../helpers/recordings.ts";
import { startUpstream } from "../../helpers/upstream.ts";
import { endOf, readBody, readFrames, upstream } from "./make.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const recorded = recordings({ api: "bedrock" });
const answered = recorded.filter(({ response }) => response.status === 200);
const isStream = ({ framing }: Recording) => framing !== "json";

/** The body as Bedrock frames it; some recordings have the events as JSON lines. */
function bytesOfAnswer(recording: Recording): Buffer {
  if (recording.framing !== "ndjson") return answerBytes(recording);
  const lines = recording.response.body!.split("\n").filter((line) => line.trim() !== "");
  return awsStream(
    lines
      .flatMap((line) => Object.entries(JSON.parse(line) as JsonObject))
      .map(([event, data]) => ({ event, data: JSON.stringify(data) })),
  );
}

/** What a reader must get out of an answer. */
interface Gist {
  text: string;
  reasoning: string;
  signatures: string[];
  redacted: number;
  calls: unknown[];
  urls: string[];
  stop: unknown;
  tokens: unknown[];
}

const bytesOf = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;

/** The gist of a message in the words of the wire or of the AWS SDK, read here without the codec. */
function gistOf(content: readonly JsonObject[], stop: unknown, usage: JsonObject | undefined): Gist {
  const own = content.filter(({ toolUse }) => isObject(toolUse) && toolUse.type !== "server_tool_use");
  const reasoning = content.flatMap(({ reasoningContent }) =>
    isObject(reasoningContent) ? [reasoningContent] : [],
  );
  const texts = reasoning.flatMap(({ reasoningText }) => (isObject(reasoningText) ? [reasoningText] : []));
  const cited = content.flatMap(({ citationsContent }) =>
    isObject(citationsContent) ? [citationsContent] : [],
  );
  return {
    text: content.map((block) => textIn(block)).join(""),
    reasoning: texts.map(({ text }) => String(text ?? "")).join(""),
    signatures: texts.flatMap(({ signature }) =>
      typeof signature === "string" && signature ? [signature] : [],
    ),
    redacted: reasoning.filter(({ redactedContent }) => bytesOf(redactedContent)).length,
    calls: own.map(({ toolUse }) => [(toolUse as JsonObject).name, (toolUse as JsonObject).input ?? {}]),
    urls: cited.flatMap(({ citations }) => listOf(citations)).flatMap(urlOf),
    stop: stop === "tool_use" && own.length === 0 ? "end_turn" : stop,
    tokens: [
      usage?.inputTokens ?? 0,
      usage?.outputTokens ?? 0,
      usage?.cacheReadInputTokens ?? 0,
      usage?.cacheWriteInputTokens ?? 0,
    ],
  };
}

function textIn({ text, citationsContent }: JsonObject): string {
  if (typeof text === "string") return text;
  const inner = isObject(citationsContent) ? listOf(citationsContent.content) : [];
  return inner.map(({ text: said }) => String(said ?? "")).join("");
}

function urlOf({ location }: JsonObject): string[] {
  const web = isObject(location) ? location.web : undefined;
  return isObject(web) ? [String(web.url)] : [];
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Puts the deltas of a stream together, read here without the codec. */
function contentOf(events: readonly JsonObject[]): JsonObject[] {
  const blocks = new Map<number, JsonObject>();
  const blockAt = (index: unknown) => {
    const block = blocks.get(Number(index)) ?? {};
    blocks.set(Number(index), block);
    return block;
  };
  for (const { contentBlockStart: begun, contentBlockDelta: grown } of events) {
    if (isObject(begun) && isObject(begun.start))
      Object.assign(blockAt(begun.contentBlockIndex), structuredClone(begun.start));
    if (!isObject(grown) || !isObject(grown.delta)) continue;
    const block = blockAt(grown.contentBlockIndex);
    const { text, toolUse, reasoningContent, citation } = grown.delta;
    if (typeof text === "string") block.text = String(block.text ?? "") + text;
    if (isObject(toolUse))
      (block.toolUse as JsonObject).input =
        String((block.toolUse as JsonObject).input ?? "") + String(toolUse.input);
    if (isObject(reasoningContent)) {
      const whole = ((block.reasoningContent ??= { reasoningText: {} }) as { reasoningText: JsonObject })
        .reasoningText;
      if (typeof reasoningContent.text === "string")
        whole.text = String(whole.text ?? "") + reasoningContent.text;
      if (typeof reasoningContent.signature === "string") whole.signature = reasoningContent.signature;
    }
    if (isObject(citation)) {
      const cited = (block.citationsContent ??= { content: [], citations: [] }) as { citations: Json[] };
      cited.citations.push(citation);
    }
  }
  for (const { toolUse } of blocks.values())
    if (isObject(toolUse) && typeof toolUse.input === "string")
      toolUse.input = JSON.parse(toolUse.input || "{}") as Json;
  return [...blocks.values()];
}

function gistOfStream(events: readonly JsonObject[]): Gist {
  const last = (name: string) =>
    events.findLast((event) => event[name] !== undefined)?.[name] as JsonObject | undefined;
  return gistOf(
    contentOf(events),
    last("messageStop")?.stopReason,
    last("metadata")?.usage as JsonObject | undefined,
  );
}

function gistOfEvents(events: readonly ChatEvent[]): Gist {
  const { usage, reason } = endOf(events);
  const starts = events.flatMap((event) => (event.type === "block-start" ? [event] : []));
  const inputOf = (index: number) =>
    events
      .map((event) => (event.type === "block-delta" && event.index === index ? event.delta : ""))
      .join("");
  return {
    text: textOf(events),
    reasoning: textOf(events, "reasoning"),
    signatures: events.flatMap((event) =>
      event.type === "block-end" && event.signature ? [event.signature] : [],
    ),
    redacted: starts.filter(({ block }) => block.type === "reasoning" && block.redacted !== undefined).length,
    calls: starts.flatMap(({ block, index }) =>
      block.type === "tool-call" ? [[block.name, JSON.parse(inputOf(index) || "{}")]] : [],
    ),
    urls: events.flatMap((event) => (event.type === "citation" ? [event.citation.url] : [])),
    stop: reason.kind === "stop" ? "end_turn" : reason.raw,
    tokens: [usage.input, usage.output, usage.cacheRead, usage.cacheWrite],
  };
}

const modelOf = ({ model }: Recording) => model ?? "some-model";

function decoded(recording: Recording): Gist {
  if (!isStream(recording))
    return gistOfEvents(
      readBody(JSON.parse(recording.response.body ?? "") as JsonObject, { model: modelOf(recording) }),
    );
  const frames = eventStream().reader().push(bytesOfAnswer(recording));
  return gistOfEvents(readFrames(frames, { model: modelOf(recording) }));
}

describe("a recorded answer is read as an independent reader and the AWS SDK read it", () => {
  const upstreamOf = startUpstream(() => ({}));
  const client = bedrockClient(upstreamOf.url);
  const input = { modelId: "m", messages: [] };

  for (const recording of answered)
    test(`${modelOf(recording)} ${recording.id}`, async () => {
      const gist = decoded(recording);
      upstreamOf.answer(() => ({
        headers: {
          "content-type": isStream(recording) ? "application/vnd.amazon.eventstream" : "application/json",
        },
        body: [bytesOfAnswer(recording)],
      }));
      if (isStream(recording)) {
        const { stream } = await client.send(new ConverseStreamCommand(input));
        const events: JsonObject[] = [];
        for await (const event of stream!) events.push(event as unknown as JsonObject);
        expect(gist).toEqual(gistOfStream(events));
        const frames = eventStream().reader().push(bytesOfAnswer(recording));
        expect(gist).toEqual(
          gistOfStream(frames.map(({ event, data }) => ({ [event!]: JSON.parse(data) as Json }))),
        );
        return;
      }
      const { output, stopReason, usage } = await client.send(new ConverseCommand(input));
      expect(gist).toEqual(
        gistOf(
          (output?.message?.content ?? []) as unknown as JsonObject[],
          stopReason,
          usage as unknown as JsonObject,
        ),
      );
      const body = JSON.parse(recording.response.body!) as {
        output: { message: { content: JsonObject[] } };
        stopReason: string;
        usage: JsonObject;
      };
      expect(gist).toEqual(gistOf(body.output.message.content, body.stopReason, body.usage));
    });

  test("and nothing stays open", () => {
    client.destroy();
    upstreamOf.stop();
  });
});

describe("recorded refusals have their kind and their sentence", () => {
  const kinds: Record<string, [string, string?]> = {
    "on-demand throughput": ["invalid-request"],
    "end of its life": ["not-found", "model_not_found"],
    "security token": ["upstream-auth", "upstream_auth"],
    "identifier is invalid": ["invalid-request", "model_not_found"],
    "doesn't support": ["invalid-request"],
  };
  for (const { response, id } of recorded.filter(({ response: { status } }) => status >= 400))
    test(id, () => {
      const error = upstream.codec.decodeError(
        response.status,
        new Headers(response.headers),
        response.body ?? "",
      );
      const [, [kind, code]] = Object.entries(kinds).find(([words]) => response.body!.includes(words))!;
      expect([error.kind, error.code]).toEqual([kind as typeof error.kind, code]);
    });
});

describe("recorded encrypted reasoning of Claude", () => {
  const redacted = answered.filter(({ response }) => response.body?.includes("redactedContent"));

  test.skipIf(!haveRecordings)("is the text that Anthropic itself sends, encoded once more", () => {
    expect(redacted.length).toBeGreaterThan(0);
    for (const recording of redacted) {
      const events = readBody(JSON.parse(recording.response.body!) as JsonObject, {
        model: modelOf(recording),
      });
      const blocks = events.flatMap((event) =>
        event.type === "block-start" && event.block.type === "reasoning" ? [event.block] : [],
      );
      expect(blocks[0]).toMatchObject({
        origin: "anthropic",
        redacted: expect.stringMatching(/^E[uv][A-Za-z0-9+/=]+$/),
      });
    }
  });
});
