/** What differs between the answer a client of the other format must see and the one it saw. No sentences: nothing. */
import type { Seen, SeenError } from "../helpers/sdk.ts";
import type { Outcome } from "./call.ts";
import { parseInput, type ExpectedAnswer } from "./expected.ts";
import { canonical } from "./pieces.ts";
import type { Api } from "./policy.ts";
import { readAnswer, readStream, type Reading } from "./reading.ts";

export function answerFaults(
  client: Api,
  stream: boolean,
  expected: ExpectedAnswer,
  outcome: Outcome,
): string[] {
  if (expected.kind === "error") return errorFaults(client, expected, outcome);
  if (expected.kind === "unasked")
    return "error" in outcome.message ? [`the SDK threw ${outcome.message.error.message}`] : [];
  if (expected.kind === "broken") return brokenFaults(expected, outcome);
  const readItems = stream ? (items: unknown) => readStream[client](items as unknown[]) : readAnswer[client];
  return [
    ...seenFaults("items", outcome.items, readItems, client, expected.reading),
    ...(stream ? seenFaults("helper", outcome.message, readAnswer[client], client, expected.reading) : []),
  ];
}

function seenFaults(
  what: string,
  seen: Seen<unknown>,
  read: (value: unknown) => Reading,
  client: Api,
  expected: Reading,
): string[] {
  if ("error" in seen) return [`${what}: the SDK threw ${seen.error.class}: ${seen.error.message}`];
  return readingFaults(expected, read(seen.value), client, what === "helper").map(
    (fault) => `${what}: ${fault}`,
  );
}

function readingFaults(expected: Reading, got: Reading, client: Api, isHelper: boolean): string[] {
  const faults: string[] = [];
  const compare = (what: string, left: unknown, right: unknown) => {
    if (left !== right) faults.push(`${what} ${show(right)}, not ${show(left)}`);
  };
  compare("text", visible(expected.text), visible(got.text));
  compare("calls", callsOf(expected), callsOf(isHelper ? withoutCut(expected, got) : got));
  compare("finish", expected.finish, got.finish);
  // The OpenAI SDK's helper keeps one of several fragments of members it does not know (E.7.1).
  if (!(isHelper && client === "chat")) {
    compare("reasoning", expected.reasoning.trim(), got.reasoning.trim());
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
  if (client === "messages" && wire && !isMessagesError(wire.bytes.toString("utf8")))
    faults.push("not an error of the Messages format");
  if (!error.message.includes(expected.words)) faults.push(`"${error.message}" lost "${expected.words}"`);
  return faults;
}

const ERROR_CLASS: Record<number, string> = {
  400: "BadRequestError",
  404: "NotFoundError",
  413: "APIError",
  429: "RateLimitError",
};

function isMessagesError(text: string): boolean {
  const body = JSON.parse(text) as { type?: string; error?: { type?: string; message?: string } };
  return (
    body.type === "error" && typeof body.error?.type === "string" && typeof body.error.message === "string"
  );
}

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
