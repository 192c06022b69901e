/** What a Converse answer of Bedrock says, read by code that shares nothing with the codec and the framing it judges. */
import { answerBytes, type Recording } from "../helpers/recordings.ts";
import { parseInput } from "./expected.ts";
import { eventStream } from "./plain-answer.ts";
import {
  countOf,
  listOf,
  objectOf,
  saidNothing,
  textOf,
  type Ending,
  type Said,
  type Value,
} from "./said.ts";

/** One event of a stream, by its name. */
interface NamedEvent {
  /** `event`, `exception` or `error`. */
  kind: string;
  name: string;
  payload: Value;
}

/** The bytes of an answer as Bedrock sends them: some recordings have the events of a stream as lines of JSON. */
export function converseBytes(recording: Recording): Buffer {
  const bytes = answerBytes(recording);
  if (recording.framing !== "ndjson") return bytes;
  const lines = bytes.toString("utf8").split("\n");
  return eventStream(
    lines.filter((line) => line.trim() !== "").map((line) => Object.entries(JSON.parse(line) as Value)[0]!),
  );
}

/** Whether the answer is a stream. */
export function isEventStream({ framing }: Recording): boolean {
  return framing === "aws-eventstream" || framing === "ndjson";
}

/** The events in the messages of an event stream; checksums are not looked at. */
export function eventsIn(bytes: Buffer): NamedEvent[] {
  const events: NamedEvent[] = [];
  for (let at = 0; at < bytes.length;) {
    const total = bytes.readUInt32BE(at);
    const payloadAt = at + 12 + bytes.readUInt32BE(at + 4);
    const headers = headersIn(bytes.subarray(at + 12, payloadAt));
    const kind = headers[":message-type"] ?? "";
    const payload = bytes.toString("utf8", payloadAt, at + total - 4);
    events.push({
      kind,
      name: headers[`:${kind}-type`] ?? headers[":error-code"] ?? "",
      payload: payload === "" ? {} : (JSON.parse(payload) as Value),
    });
    at += total;
  }
  return events;
}

/** Headers with text values, which are all that Bedrock sends. */
function headersIn(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const name = bytes.toString("utf8", at + 1, (at += 1 + bytes[at]!));
    const length = bytes.readUInt16BE(at + 1);
    headers[name] = bytes.toString("utf8", at + 3, (at += 3 + length));
  }
  return headers;
}

/** Why a client must get an error instead of the answer; `undefined`: it must get the answer. */
export function converseRefusal(recording: Recording): string | undefined {
  if (recording.response.status !== 200) return `status ${recording.response.status}`;
  if (!isEventStream(recording)) return undefined;
  const events = eventsIn(converseBytes(recording));
  if (events.some(({ kind }) => kind !== "event")) return "an exception in the stream";
  return events.some(({ name }) => name === "messageStop") ? undefined : "an answer without an end";
}

/** What the recorded answer says. @param isClaude the encrypted reasoning is base64 of what Anthropic calls `data` */
export function readConverse(recording: Recording, isClaude: boolean): Said {
  const whole = isEventStream(recording)
    ? joined(eventsIn(converseBytes(recording)))
    : (JSON.parse(answerBytes(recording).toString("utf8")) as Value);
  const said = saidNothing();
  const cited: string[] = [];
  for (const block of listOf(objectOf(objectOf(whole["output"])["message"])["content"])) {
    said.text += textOf(block["text"]);
    const citations = objectOf(block["citationsContent"]);
    said.text += listOf(citations["content"])
      .map(({ text }) => textOf(text))
      .join("");
    cited.push(
      ...listOf(citations["citations"]).map(({ location }) =>
        textOf(objectOf(objectOf(location)["web"])["url"]),
      ),
    );
    addReasoning(said, objectOf(block["reasoningContent"]), isClaude);
    const call = objectOf(block["toolUse"]);
    // Tools that Amazon runs itself are no calls for the client.
    if (call["name"] && call["type"] !== "server_tool_use")
      said.calls.push({ name: textOf(call["name"]), input: call["input"] ?? {} });
  }
  const word = textOf(whole["stopReason"]);
  return {
    ...said,
    finish: ENDINGS[word] ?? (word === "" ? undefined : "stop"),
    citations: [...new Set(cited.filter((url) => url !== ""))].sort(),
    usage: bucketsOf(objectOf(whole["usage"])),
  };
}

function addReasoning(said: Said, reasoning: Value, isClaude: boolean): void {
  const { text, signature } = objectOf(reasoning["reasoningText"]);
  said.reasoning += textOf(text);
  said.signed += textOf(signature);
  const redacted = textOf(reasoning["redactedContent"]);
  said.signed += isClaude ? Buffer.from(redacted, "base64").toString("latin1") : redacted;
}

/** A stream as the JSON answer that it would have been. */
function joined(events: readonly NamedEvent[]): Value {
  const blocks = new Map<unknown, Value>();
  const whole: Value = {};
  for (const { name, payload } of events) {
    const index = payload["contentBlockIndex"];
    if (name === "contentBlockStart") blocks.set(index, startOf(objectOf(payload["start"])));
    if (name === "contentBlockDelta") {
      if (!blocks.has(index)) blocks.set(index, {});
      grow(blocks.get(index)!, objectOf(payload["delta"]));
    }
    if (name === "messageStop") whole["stopReason"] = payload["stopReason"];
    if (name === "metadata") whole["usage"] = payload["usage"];
  }
  const content = [...blocks.values()].map((block) => {
    const call = objectOf(block["toolUse"]);
    return call["partial"] === undefined
      ? block
      : { toolUse: { ...call, input: parseInput(textOf(call["partial"])) } };
  });
  return { ...whole, output: { message: { content } } };
}

function startOf(start: Value): Value {
  const call = start["toolUse"];
  return call === undefined ? {} : { toolUse: { ...objectOf(call), partial: "" } };
}

function grow(block: Value, delta: Value): void {
  if (delta["text"] !== undefined) block["text"] = textOf(block["text"]) + textOf(delta["text"]);
  const call = objectOf(block["toolUse"]);
  if (delta["toolUse"] !== undefined)
    call["partial"] = textOf(call["partial"]) + textOf(objectOf(delta["toolUse"])["input"]);
  if (delta["citation"] !== undefined)
    block["citationsContent"] = {
      citations: [...listOf(objectOf(block["citationsContent"])["citations"]), delta["citation"]],
    };
  const reasoning = objectOf(delta["reasoningContent"]);
  const before = objectOf(block["reasoningContent"]);
  const { text, signature } = objectOf(before["reasoningText"]);
  if (delta["reasoningContent"] !== undefined)
    block["reasoningContent"] = {
      reasoningText: {
        text: textOf(text) + textOf(reasoning["text"]),
        signature: textOf(signature) + textOf(reasoning["signature"]),
      },
      redactedContent: joinedBytes(textOf(before["redactedContent"]), textOf(reasoning["redactedContent"])),
    };
}

/** Each piece is base64 of its own. */
function joinedBytes(...pieces: string[]): string {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64"))).toString("base64");
}

function bucketsOf(usage: Value): Said["usage"] {
  if (usage["inputTokens"] === undefined) return undefined;
  return {
    input: countOf(usage["inputTokens"]),
    cacheRead: countOf(usage["cacheReadInputTokens"]),
    cacheWrite: countOf(usage["cacheWriteInputTokens"]),
    output: countOf(usage["outputTokens"]),
    reasoning: 0,
  };
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "content-filter",
  content_filtered: "content-filter",
};
