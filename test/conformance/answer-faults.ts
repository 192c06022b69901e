/** What differs between the answer a client of the other format must see and the one it saw. No sentences: nothing. */
import type { Seen, SeenError } from "../helpers/sdk.ts";
import type { Outcome } from "./call.ts";
import { parseInput, type ExpectedAnswer } from "./expected.ts";
import { canonical } from "./pieces.ts";
import type { Api } from "./policy.ts";
import { readAnswer, readStream, type Reading } from "./reading.ts";
import { answerShape, streamShape } from "./shapes.ts";

/** The call an answer belongs to. */
export interface Asked {
  client: Api;
  stream: boolean;
  /** The model name as the client wrote it, which is the one it reads. */
  model: string;
}

export function answerFaults(asked: Asked, expected: ExpectedAnswer, outcome: Outcome): string[] {
  const { client, stream } = asked;
  if (expected.kind === "error") return errorFaults(client, expected, outcome);
  if (expected.kind === "unasked")
    return "error" in outcome.message ? [`the SDK threw ${outcome.message.error.message}`] : [];
  if (expected.kind === "broken") return brokenFaults(expected, outcome);
  const readItems = stream ? (items: unknown) => readStream[client](items as unknown[]) : readAnswer[client];
  return [
    ...shapeFaults(asked, outcome),
    ...seenFaults("items", outcome.items, readItems, asked, expected.reading),
    ...(stream ? seenFaults("helper", outcome.message, readAnswer[client], asked, expected.reading) : []),
  ];
}

/** The bytes by the vendor's types, and the headers every answer has. */
function shapeFaults({ client, stream }: Asked, { wire }: Outcome): string[] {
  if (!wire) return ["no answer"];
  const text = wire.bytes.toString("utf8");
  const faults = stream ? streamShape[client](text) : answerShape[client](JSON.parse(text));
  const type = stream ? "text/event-stream" : "application/json";
  if (!wire.headers.get("content-type")?.startsWith(type)) faults.push(`the content type is not ${type}`);
  return [...new Set(faults)].map((fault) => `shape: ${fault}`);
}

function seenFaults(
  what: string,
  seen: Seen<unknown>,
  read: (value: unknown) => Reading,
  asked: Asked,
  expected: Reading,
): string[] {
  if ("error" in seen) return [`${what}: the SDK threw ${seen.error.class}: ${seen.error.message}`];
  return readingFaults(expected, read(seen.value), asked, what === "helper").map(
    (fault) => `${what}: ${fault}`,
  );
}

function readingFaults(
  expected: Reading,
  got: Reading,
  { client, model }: Asked,
  isHelper: boolean,
): string[] {
  const faults: string[] = [];
  const compare = (what: string, left: unknown, right: unknown) => {
    if (left !== right) faults.push(`${what} ${show(right)}, not ${show(left)}`);
  };
  compare("text", visible(expected.text), visible(got.text));
  compare("calls", callsOf(expected), callsOf(isHelper ? withoutCut(expected, got) : got));
  compare("finish", expected.finish, got.finish);
  compare("model", model, got.model);
  faults.push(...idFaults(client, expected, got));
  // The OpenAI SDK's helper keeps one of several lists of citations, as of all members it does not know.
  if (!(isHelper && client === "chat"))
    compare("citations", expected.citations.join(" "), got.citations.join(" "));
  // The OpenAI SDK's helper keeps one of several fragments of members it does not know .
  if (!(isHelper && client === "chat")) {
    compare("reasoning", expected.reasoning.trim(), got.reasoning.trim());
    if (client === "chat") compare("reasoning_content", expected.reasoning.trim(), got.mirrored.trim());
    if (client === "chat") compare("signatures", expected.signed, got.signed);
  }
  if (client === "messages") {
    if (got.reasoning !== "" && got.signed === "") faults.push("reasoning without a signature");
    if (got.finish === "stop_sequence") compare("stop sequence", expected.stopSequence, got.stopSequence);
  }
  const ids = got.calls.map((call) => call.id);
  if (new Set(ids).size !== ids.length) faults.push("call ids are not unique");
  for (const id of ids) if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) faults.push(`call id ${id}`);
  if (expected.usage) compare("usage", JSON.stringify(expected.usage), JSON.stringify(got.usage));
  return faults;
}

/** An id of the client's format that comes from the upstream's own; ids of calls are kept where they are legal. */
function idFaults(client: Api, expected: Reading, got: Reading): string[] {
  const faults: string[] = [];
  const bare = expected.id.replace(/^msg_/, "");
  if (client === "chat" && !(got.id.startsWith("chatcmpl-") && got.id.endsWith(bare)))
    faults.push(`the id ${got.id} does not come from ${expected.id}`);
  if (client === "messages" && !/^msg_[\w-]{1,60}$/.test(got.id)) faults.push(`the id ${got.id}`);
  const known = expected.calls.map(({ id }) => id);
  expected.calls.forEach(({ id }, place) => {
    const kept = /^[\w-]{1,64}$/.test(id) && known.indexOf(id) === place;
    const there = got.calls[place];
    if (kept && there && there.id !== id) faults.push(`the call id ${id} became ${there.id}`);
  });
  return faults;
}

/** Text of nothing but blanks is no text in the Messages format. */
function visible(text: string): string {
  return text.trim() === "" ? "" : text;
}

/** The helper of the Anthropic SDK reads arguments that were cut off as far as they go. */
function withoutCut(expected: Reading, got: Reading): Reading {
  const whole = got.calls.filter((_, index) => parseInput(expected.calls[index]?.input ?? "") !== undefined);
  return { ...got, calls: whole };
}

/** Calls that have a name; of one that was cut off, only that it may be there or not. */
function callsOf(reading: Reading): string {
  const whole = reading.calls.filter((call) => call.name !== "" && parseInput(call.input) !== undefined);
  return whole.map((call) => `${call.name}(${canonical(parseInput(call.input))})`).join(" ");
}

function errorFaults(
  client: Api,
  expected: Extract<ExpectedAnswer, { kind: "error" }>,
  { items, wire }: Outcome,
): string[] {
  if (!("error" in items)) return ["the SDK saw no error"];
  const { error } = items;
  const faults: string[] = [];
  if (wire?.status !== expected.status) faults.push(`status ${wire?.status}, not ${expected.status}`);
  const name = ERROR_CLASS[expected.status] ?? "InternalServerError";
  if (error.class !== name) faults.push(`the SDK saw ${error.class}, not ${name}`);
  if (wire) faults.push(...ENVELOPES[client](JSON.parse(wire.bytes.toString("utf8")), expected.status));
  if (!error.message.includes(expected.words)) faults.push(`"${error.message}" lost "${expected.words}"`);
  return faults;
}

const ERROR_CLASS: Record<number, string> = {
  400: "BadRequestError",
  404: "NotFoundError",
  413: "APIError",
  429: "RateLimitError",
};

/** The envelope of an error, and the word of the client's format for its status. */
const ENVELOPES: Record<Api, (body: unknown, status: number) => string[]> = {
  chat(body, status) {
    const { error } = body as { error?: Record<string, unknown> };
    const isWhole = ["message", "type", "param", "code"].every((name) => error && name in error);
    if (!isWhole) return ["not an error of the chat-completions format"];
    const wanted = status < 500 && status !== 429 ? "invalid_request_error" : undefined;
    return wanted && error!["type"] !== wanted ? [`the type ${String(error!["type"])}, not ${wanted}`] : [];
  },
  messages(body, status) {
    const { type, error } = body as { type?: string; error?: { type?: string; message?: string } };
    if (type !== "error" || typeof error?.message !== "string")
      return ["not an error of the Messages format"];
    const wanted = ERROR_TYPE[status] ?? "api_error";
    return error.type === wanted ? [] : [`the type ${error.type}, not ${wanted}`];
  },
};

const ERROR_TYPE: Record<number, string> = {
  400: "invalid_request_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

function brokenFaults(
  { why }: Extract<ExpectedAnswer, { kind: "broken" }>,
  { items, message, wire }: Outcome,
): string[] {
  const faults: string[] = [];
  if (!("error" in items)) faults.push(`items: no error, though ${why}`);
  if (!("error" in message)) faults.push(`helper: no error, though ${why}`);
  const errors: SeenError[] = [items, message].flatMap((seen) => ("error" in seen ? [seen.error] : []));
  for (const error of errors)
    if (/JSON|undefined|not a function/.test(error.message))
      faults.push(`the SDK stumbled: ${error.message}`);
  const ending = /^(data: \[DONE\]|event: message_stop)/m;
  if (ending.test(wire?.bytes.toString("utf8") ?? "")) faults.push(`an ending was made up, though ${why}`);
  return faults;
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 400) ?? "undefined";
}
