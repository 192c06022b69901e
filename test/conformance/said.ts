/** What an answer says, in terms that all formats share, and how two answers differ. */
import { canonical } from "./pieces.ts";
import { parseInput } from "./expected.ts";
import type { Buckets, Reading } from "./reading.ts";

export type Value = Record<string, unknown>;

export interface Said {
  text: string;
  reasoning: string;
  /** Signatures and encrypted reasoning, in order, as one text; without the wrapping of weir. */
  signed: string;
  /** The end of `signed` that stands behind the last text, with nothing of its own to sign. */
  signedBehind?: string;
  calls: { name: string; input: unknown }[];
  /** `undefined` if the answer never ended. */
  finish: Ending | undefined;
  /** Addresses that the text cites; once each, sorted. */
  citations: string[];
  /** `undefined` if the answer has no counts. */
  usage: Buckets | undefined;
}

export type Ending = "stop" | "length" | "tool-calls" | "content-filter";

/** An answer that says nothing. */
export function saidNothing(): Said {
  const lists = { calls: [], citations: [] };
  return { text: "", reasoning: "", signed: "", ...lists, finish: undefined, usage: undefined };
}

/** What a format cannot say: differences in these members are none. */
export type Unsaid = readonly (keyof Said | "cacheWrite")[];

/** Sentences, one for each member in which `got` differs from `wanted`. */
export function differentSaid(wanted: Said, got: Said, unsaid: Unsaid = []): string[] {
  const rows: [keyof Said, unknown, unknown][] = [
    ["text", visible(wanted.text), explained(wanted, got) ? "" : visible(got.text)],
    ["reasoning", wanted.reasoning.trim(), got.reasoning.trim()],
    ["signed", signedIn(wanted, unsaid), got.signed],
    ["calls", callsOf(wanted), callsOf(got)],
    ["finish", endingOf(wanted), endingOf(got)],
    ["citations", wanted.citations.join(" "), got.citations.join(" ")],
    ["usage", countsOf(wanted.usage, unsaid), countsOf(wanted.usage && got.usage, unsaid)],
  ];
  return rows
    .filter(([name, left, right]) => !unsaid.includes(name) && left !== right)
    .map(([name, left, right]) => `${name}: ${excerpt(left, right)} became ${excerpt(right, left)}`);
}

/** A call ends an answer with calls, whatever word the provider chose, unless the answer was cut or filtered. */
function endingOf({ finish, calls }: Said): Ending | undefined {
  if (finish === "length" || finish === "content-filter") return finish;
  if (calls.some(({ name }) => name !== "")) return "tool-calls";
  return finish === "tool-calls" ? "stop" : finish;
}

function signedIn({ signed, signedBehind = "" }: Said, unsaid: Unsaid): string {
  return unsaid.includes("signedBehind") ? signed.slice(0, signed.length - signedBehind.length) : signed;
}

/** Some formats tell in a text why there is none. */
function explained({ text, finish }: Said, got: Said): boolean {
  return finish === "content-filter" && text === "" && got.finish === "content-filter";
}

/** Text of nothing but blanks is no text in some formats, and a text stands for an image. */
function visible(text: string): string {
  const written = text.replace(IMAGE, "");
  return written.trim() === "" ? "" : written;
}

/** What a client reads in place of an image that its format has no block for. */
export const IMAGE = /\[image: [\w/+.-]+, \d+ bytes\]\s*/g;

/** Calls with parsed arguments; one that was cut off may be there or not. */
function callsOf({ calls }: Said): string {
  const whole = calls.filter(({ name, input }) => name !== "" && input !== undefined);
  return whole.map(({ name, input }) => `${name}(${canonical(input)})`).join(" ");
}

function countsOf(usage: Buckets | undefined, unsaid: Unsaid): string {
  if (!usage) return "none";
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  const written = unsaid.includes("cacheWrite")
    ? [input + cacheWrite, cacheRead]
    : [input, cacheRead, cacheWrite];
  return [...written, output, reasoning].join("/");
}

/** The text around the first difference. */
function excerpt(value: unknown, other: unknown): string {
  const [text, against] = [String(value), String(other)];
  let at = 0;
  while (at < text.length && text[at] === against[at]) at++;
  return JSON.stringify(text.slice(Math.max(0, at - 20), at + 100));
}

/** The reading of a chat or messages answer. */
export function saidIn(reading: Reading): Said {
  const { text, refusal, reasoning, signed, calls, finish, citations, usage } = reading;
  return {
    text: text.trim() === "" ? refusal : text,
    reasoning,
    signed: unwrapped(signed),
    calls: calls.map(({ name, input }) => ({ name, input: parseInput(input) })),
    finish: ENDINGS[finish ?? ""],
    citations: [...new Set(citations)].sort(),
    usage,
  };
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  length: "length",
  max_tokens: "length",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  content_filter: "content-filter",
  refusal: "content-filter",
};

/** Opaque values as the vendors wrote them: a client gets those of other vendors wrapped. */
export function unwrapped(signed: string): string {
  return signed.replace(
    /weir1\.[a-z0-9-]+\.([A-Za-z0-9_-]*?)(?=weir1\.|[^A-Za-z0-9_-]|$)/g,
    (_, payload: string) => payloadOf(Buffer.from(payload, "base64url").toString("utf8")),
  );
}

/** Reasoning without an opaque value is wrapped as well, because some clients discard what has none. */
function payloadOf(text: string): string {
  if (/^weir:(digest|text):/.test(text)) return "";
  if (text.startsWith("weir:redacted:")) return payloadOf(text.slice("weir:redacted:".length));
  if (!text.startsWith("{")) return text;
  const { signature, data, thoughtSignature, thought_signature: snake } = JSON.parse(text) as Value;
  return textOf(signature) + textOf(data) + textOf(thoughtSignature ?? snake);
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const countOf = (value: unknown): number => (typeof value === "number" ? value : 0);
export const listOf = (value: unknown): Value[] =>
  Array.isArray(value)
    ? value.filter((each): each is Value => typeof each === "object" && each !== null)
    : [];
export const objectOf = (value: unknown): Value =>
  typeof value === "object" && value !== null ? (value as Value) : {};
