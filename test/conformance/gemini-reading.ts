/** What a Gemini answer says, read from its records by code that shares nothing with the codecs it judges. */
import { answerBytes, type Recording } from "../helpers/recordings.ts";
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

/** The records of an answer: one of a JSON answer, several of a stream of events or a JSON array. */
export function geminiRecords(recording: Recording): Value[] {
  const text = answerBytes(recording).toString("utf8");
  if (recording.framing !== "sse") {
    const body = JSON.parse(text) as unknown;
    return Array.isArray(body) ? listOf(body) : [objectOf(body)];
  }
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return lines.map((line) => JSON.parse(line.slice("data:".length)) as Value);
}

/** Why a client of another format must get an error instead of the answer; `undefined`: it must get the answer. */
export function geminiRefusal(recording: Recording): string | undefined {
  if (recording.response.status !== 200) return `status ${recording.response.status}`;
  const records = geminiRecords(recording);
  if (records.some((record) => record["error"] !== undefined)) return "an error in the stream";
  const words = records.flatMap((record) =>
    listOf(record["candidates"]).map(({ finishReason }) => finishReason),
  );
  const failed = words.find((word) => FAILURES.test(String(word)));
  if (failed) return `the finish reason ${String(failed)}, without the tool that was called`;
  const isBlocked = records.some((record) => objectOf(record["promptFeedback"])["blockReason"] !== undefined);
  // A JSON answer ends with its last brace.
  const hasEnded = isBlocked || recording.framing === "json" || words.some((word) => word !== undefined);
  return hasEnded ? undefined : "an answer without an end";
}

const FAILURES = /^(MALFORMED_|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS)/;

/** What the records say together. Only the first candidate counts. */
export function readGemini(records: readonly Value[]): Said {
  const said = saidNothing();
  const cited: string[] = [];
  const counts: Value = {};
  let pieces: PartialCall | undefined;
  for (const record of records) {
    Object.assign(counts, objectOf(record["usageMetadata"]));
    if (objectOf(record["promptFeedback"])["blockReason"] !== undefined) said.finish = "content-filter";
    const candidate = listOf(record["candidates"]).find(({ index }) => countOf(index) === 0);
    for (const part of listOf(objectOf(candidate?.["content"])["parts"])) {
      const call = member(part, "functionCall");
      if (call && isPiece(call, pieces)) {
        if (textOf(call["name"]) !== "") {
          pieces = { name: textOf(call["name"]), input: {} };
          said.calls.push(pieces);
        }
        for (const piece of listOf(call["partialArgs"])) setAt(pieces!.input, piece);
        if (call["willContinue"] !== true) pieces = undefined;
      } else addPart(said, part, call);
      const signature = textOf(part["thoughtSignature"] ?? part["thought_signature"]);
      said.signed += signature;
      said.signedBehind = part["text"] === "" ? (said.signedBehind ?? "") + signature : "";
    }
    const word = candidate?.["finishReason"];
    if (word !== undefined) said.finish = ENDINGS[String(word)] ?? "stop";
    cited.push(...sourcesOf(objectOf(candidate?.["groundingMetadata"])));
  }
  if (records.length === 1) said.finish ??= "stop";
  return { ...said, citations: [...new Set(cited)].sort(), usage: bucketsOf(counts) };
}

function addPart(said: Said, part: Value, call: Value | undefined): void {
  if (call) said.calls.push({ name: textOf(call["name"]), input: call["args"] ?? {} });
  else if (part["thought"] === true) said.reasoning += textOf(part["text"]);
  else said.text += textOf(part["text"]);
}

/** A call whose arguments come in pieces: its parts follow one another. */
interface PartialCall {
  name: string;
  input: Value;
}

function isPiece(call: Value, open: PartialCall | undefined): boolean {
  return (
    call["partialArgs"] !== undefined ||
    call["willContinue"] !== undefined ||
    (open !== undefined && !call["name"])
  );
}

/** Puts one piece at its path: `$.a.b[0]`. Pieces of a text are joined. */
function setAt(root: Value, piece: Value): void {
  const steps = [...textOf(piece["jsonPath"]).matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(
    ([, name, index]) => name ?? Number(index),
  );
  let at = root as Record<string | number, unknown>;
  for (const [place, step] of steps.slice(0, -1).entries()) {
    at[step] ??= typeof steps[place + 1] === "number" ? [] : {};
    at = at[step] as Record<string | number, unknown>;
  }
  const last = steps.at(-1)!;
  if (piece["stringValue"] !== undefined) at[last] = textOf(at[last]) + textOf(piece["stringValue"]);
  else at[last] = "numberValue" in piece ? piece["numberValue"] : (piece["boolValue"] ?? null);
}

/** Both spellings of a member: Google takes and some hosts give the one of its protocol buffers. */
function member(part: Value, name: string): Value | undefined {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const value = part[name] ?? part[snake];
  return value === undefined ? undefined : objectOf(value);
}

function sourcesOf(grounding: Value): string[] {
  const chunks = listOf(grounding["groundingChunks"]);
  return listOf(grounding["groundingSupports"])
    .flatMap((support) => (support["groundingChunkIndices"] as number[] | undefined) ?? [])
    .map((index) => textOf(objectOf(chunks[index]?.["web"])["uri"]))
    .filter((uri) => uri !== "");
}

/** Google counts the cached tokens within the prompt, and the thoughts apart from the answer. */
function bucketsOf(counts: Value): Said["usage"] {
  if (counts["promptTokenCount"] === undefined) return undefined;
  const cacheRead = countOf(counts["cachedContentTokenCount"]);
  const reasoning = countOf(counts["thoughtsTokenCount"]);
  return {
    input: countOf(counts["promptTokenCount"]) + countOf(counts["toolUsePromptTokenCount"]) - cacheRead,
    cacheRead,
    cacheWrite: 0,
    output: countOf(counts["candidatesTokenCount"]) + reasoning,
    reasoning,
  };
}

/** By name, and by number where a client asked for numbers. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  STOP: "stop",
  "1": "stop",
  MAX_TOKENS: "length",
  "2": "length",
  SAFETY: "content-filter",
  "3": "content-filter",
  RECITATION: "content-filter",
  "4": "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  LANGUAGE: "content-filter",
  IMAGE_SAFETY: "content-filter",
};
