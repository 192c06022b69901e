/** What a client of the other format must see of a recorded answer: written apart from the codecs. */
import { answerBytes, answerHeaders, type Recording } from "../helpers/recordings.ts";
import { anthropicClient, collect, openaiClient, see, type Seen } from "../helpers/sdk.ts";
import type { Api } from "./policy.ts";
import { readAnswer, readStream, type Reading } from "./reading.ts";
import { writesThinkTags } from "./vendors.ts";

export type ExpectedAnswer =
  | { kind: "answer"; reading: Reading }
  /** An HTTP error: status in the client's dialect, and words of the vendor's message that have to survive. */
  | { kind: "error"; status: number; words: string }
  /** Nothing a client of the other format could have asked for. */
  | { kind: "unasked"; why: string }
  /** The stream begins and ends in an error of the client's dialect, or never begins. */
  | { kind: "broken"; why: string };

export const OTHER: Record<Api, Api> = { chat: "messages", messages: "chat" };

/** Reads the recorded answer with the vendor's own SDK and says what the other format's client must see. */
export async function expectedAnswer(recording: Recording): Promise<ExpectedAnswer> {
  const api = recording.api as Api;
  const { status } = recording.response;
  if (status !== 200) return expectedError(recording);
  const direct = await readDirect(recording);
  if ("error" in direct) return { kind: "broken", why: direct.error.message };
  const isStream = recording.framing === "sse";
  if (!isStream && hasError(direct.value)) return { kind: "broken", why: "an error answered with 200" };
  const reading = isStream ? readStream[api](direct.value as unknown[]) : readAnswer[api](direct.value);
  if (reading.choices > 1)
    return { kind: "unasked", why: "several choices; the other format cannot ask for them" };
  const failed = whyBroken(recording, reading);
  return failed
    ? { kind: "broken", why: failed }
    : { kind: "answer", reading: PROJECT[api](splitThinking(recording.vendor, reading)) };
}

/** The recorded answer as the vendor's SDK hands it over, without a gateway and without a network. */
async function readDirect(recording: Recording): Promise<Seen<unknown>> {
  if (recording.tags.includes("sdk_rejects")) return { value: framesOf(recording.response.body ?? "") };
  const answer = async () =>
    new Response(new Uint8Array(answerBytes(recording)), { headers: answerHeaders(recording) });
  const options = { fetch: answer as unknown as typeof fetch };
  const stream = recording.framing === "sse";
  const model = "some-model";
  if (recording.api === "chat") {
    const { completions } = openaiClient("http://nowhere.invalid", options).chat;
    return see(async () =>
      stream
        ? collect(await completions.create({ model, messages: [], stream }))
        : completions.create({ model, messages: [] }),
    );
  }
  const { messages } = anthropicClient("http://nowhere.invalid", options);
  const params = { model, messages: [], max_tokens: 1024 };
  return see(async () =>
    stream ? collect(await messages.create({ ...params, stream })) : messages.create(params),
  );
}

/** The JSON in a stream whose terminator the vendor's SDK stumbles over (`[DONE] ` with a blank behind, or unasked). */
function framesOf(body: string): unknown[] {
  const lines = body.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)) as unknown);
}

function hasError(body: unknown): boolean {
  const error = (body as { error?: unknown } | null)?.error;
  return error !== undefined && error !== null;
}

/** An answer that never ended, or whose vendor says that it failed, has no translation but an error. */
function whyBroken(recording: Recording, reading: Reading): string | undefined {
  const { finish } = reading;
  if (finish === "error" || finish === "insufficient_system_resource")
    return `the vendor's finish reason is ${finish}`;
  if (recording.framing !== "sse") return undefined;
  const isDone = /^data: ?\[DONE\]/m.test(recording.response.body ?? "");
  if (finish === undefined && !isDone) return "the stream has no ending";
  const isCut = reading.calls.some((call) => parseInput(call.input) === undefined);
  if (isCut && finish !== "length" && finish !== "max_tokens")
    return "arguments of a call are not JSON though the answer is complete";
  return undefined;
}

/** Some vendors leave the reasoning in the text, between tags at its head. */
function splitThinking(vendor: string, reading: Reading): Reading {
  if (!writesThinkTags(vendor)) return reading;
  const [, reasoning, text] = /^\s*<think>([^]*?)(?:<\/think>\s*([^]*))?$/.exec(reading.text) ?? [];
  return reasoning === undefined ? reading : { ...reading, reasoning, text: text ?? "" };
}

/** The arguments of a call: nothing is `{}`; `undefined` when they are not JSON. */
export function parseInput(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? value : { value };
  } catch {
    return undefined;
  }
}

/** How a reading of one API looks to a client of the other. */
const PROJECT: Record<Api, (reading: Reading) => Reading> = {
  chat(reading) {
    const text = reading.text.trim() === "" && reading.calls.length === 0 ? reading.refusal : reading.text;
    const stopped = STOP_REASON[reading.finish?.toLowerCase() ?? ""] ?? "end_turn";
    // Only the vendor itself can make a citation that it takes back in the next turn.
    return { ...reading, text, citations: [], finish: stopReason(reading, stopped) };
  },
  messages(reading) {
    const finish = FINISH_REASON[reading.finish ?? ""] ?? "stop";
    const hasCalls = reading.calls.length > 0;
    const wins = finish === "length" || finish === "content_filter";
    return { ...reading, finish: wins ? finish : hasCalls ? "tool_calls" : finish };
  },
};

function stopReason(reading: Reading, stopped: string): string {
  if (stopped === "max_tokens") return stopped;
  if (reading.calls.some((call) => call.name !== "")) return "tool_use";
  if (stopped === "refusal" || reading.refusal !== "") return "refusal";
  return reading.stopSequence && stopped === "end_turn" ? "stop_sequence" : stopped;
}

/** The stop reason by the finish reason, with the words of other vendors beside OpenAI's five. `tool_calls` without a call is no `tool_use`. */
const STOP_REASON: Record<string, string> = {
  stop: "end_turn",
  length: "max_tokens",
  model_length: "max_tokens",
  max_tokens: "max_tokens",
  tool_calls: "end_turn",
  function_call: "end_turn",
  content_filter: "refusal",
};

/** The finish reason by the stop reason. */
const FINISH_REASON: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  compaction: "stop",
  pause_turn: "stop",
  tool_use: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/** The client's status by the upstream's. Weir's own credential and account are not the client's affair. */
const CLIENT_STATUS: Record<number, number> = { 401: 502, 402: 502, 403: 502, 500: 502, 529: 503 };

function expectedError(recording: Recording): ExpectedAnswer {
  const { status, body = "" } = recording.response;
  const expected = CLIENT_STATUS[status] ?? status;
  return { kind: "error", status: expected, words: expected === 502 ? "" : wordsOf(body, recording.api) };
}

/** The first words of the vendor's message, whatever envelope it comes in; addresses are taken out on the way. */
function wordsOf(body: string, upstream: string): string {
  const envelope = JSON.parse(body) as Record<string, unknown>;
  const inner = envelope["error"] ?? envelope;
  const message = findMessage(inner);
  // Told in the words that the clients of the other format match on.
  if (/context (length|size)|prompt is too long/.test(message))
    return upstream === "messages" ? "This model's maximum context length is" : "prompt is too long";
  return message.split(/ ?http|[:{]/)[0]!.slice(0, 40);
}

/** A router's own sentence says less than the one it was given, which it puts beside (OpenRouter). */
function findMessage(error: unknown): string {
  if (typeof error === "string") return error;
  const { message, metadata } = error as { message?: unknown; metadata?: { raw?: unknown } };
  const said = metadata?.raw ?? message;
  return typeof said === "string" ? said : "";
}
