/**
 * What an answer says, read straight from its wire form as the vendors' SDKs hand it over: JSON answers and raw stream
 * items of both APIs. Written apart from the gateway's codecs, because it judges them.
 */
import type { Api } from "./policy.ts";

export interface Reading {
  /** The id of the answer; the first one a stream says. */
  id: string;
  model: string;
  /** Different choices in it. */
  choices: number;
  text: string;
  refusal: string;
  reasoning: string;
  /** The part of it that stands in `reasoning_content`, where most clients look for it. */
  mirrored: string;
  /** Signatures and encrypted reasoning, in order, as one text. */
  signed: string;
  calls: { id: string; name: string; input: string }[];
  /** The API's own word; `undefined` when the answer never ended. */
  finish: string | undefined;
  stopSequence: string | undefined;
  /** Addresses that the text cites, in order. */
  citations: string[];
  /** Disjoint buckets; `undefined` when the answer has no counts. */
  usage: Buckets | undefined;
}

export interface Buckets {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  /** Of the output. */
  reasoning: number;
}

type Value = Record<string, unknown>;

/** Reads a JSON answer. */
export const readAnswer: Record<Api, (answer: unknown) => Reading> = {
  chat(answer) {
    const body = objectOf(answer);
    const choice = firstChoice(body);
    const reading = emptyReading();
    addDelta(reading, objectOf(choice["message"]), []);
    return {
      ...reading,
      ...headOf(body),
      choices: lastChoice(body) + 1,
      ...chatEnding(choice),
      usage: chatUsage(body),
    };
  },
  messages(answer) {
    const body = objectOf(answer);
    const reading = emptyReading();
    for (const block of listOf(body["content"])) addBlock(reading, objectOf(block));
    const usage = messagesUsage(objectOf(body["usage"]));
    return { ...reading, ...headOf(body), ...messageEnding(body), usage };
  },
};

/** Reads the raw items of a stream. */
export const readStream: Record<Api, (items: readonly unknown[]) => Reading> = {
  chat(items) {
    const reading = emptyReading();
    const slots: Slot[] = [];
    for (const item of items) {
      const chunk = objectOf(item);
      const choice = firstChoice(chunk);
      const head = headOf(chunk);
      reading.id ||= head.id;
      reading.model ||= head.model;
      addDelta(reading, objectOf(choice["delta"] ?? choice["message"]), slots);
      reading.choices = Math.max(reading.choices, lastChoice(chunk) + 1);
      const { finish, stopSequence } = chatEnding(choice);
      reading.finish = finish ?? reading.finish;
      reading.stopSequence = stopSequence ?? reading.stopSequence;
      reading.usage = chatUsage(chunk) ?? reading.usage;
    }
    return reading;
  },
  messages(items) {
    const blocks = new Map<unknown, Value>();
    let ending: Value = {};
    let usage: Value = {};
    let head = headOf({});
    for (const item of items) {
      const event = objectOf(item);
      if (event["type"] === "message_start") head = headOf(objectOf(event["message"]));
      if (event["type"] === "content_block_start")
        blocks.set(event["index"], { ...objectOf(event["content_block"]) });
      if (event["type"] === "content_block_delta")
        growBlock(blocks.get(event["index"])!, objectOf(event["delta"]));
      if (event["type"] === "message_delta") ending = objectOf(event["delta"]);
      const message = event["type"] === "message_start" ? objectOf(event["message"]) : event;
      const counts = Object.entries(objectOf(message["usage"]));
      usage = { ...usage, ...Object.fromEntries(counts.filter(([, count]) => count !== null)) };
    }
    const reading = emptyReading();
    for (const block of blocks.values()) addBlock(reading, block);
    return { ...reading, ...head, ...messageEnding(ending), usage: messagesUsage(usage) };
  },
};

function emptyReading(): Reading {
  const texts = { id: "", model: "", text: "", refusal: "", reasoning: "", mirrored: "", signed: "" };
  const lists = { calls: [], citations: [] };
  return { choices: 1, ...texts, ...lists, finish: undefined, stopSequence: undefined, usage: undefined };
}

function headOf(body: Value): Pick<Reading, "id" | "model"> {
  return { id: textOf(body["id"]), model: textOf(body["model"]) };
}

interface Slot {
  key: unknown;
  call: Reading["calls"][number];
}

/** A chat message or the delta of one. */
function addDelta(reading: Reading, delta: Value, slots: Slot[]): void {
  const parts = typeof delta["content"] === "string" ? [] : listOf(delta["content"]).map(objectOf);
  reading.text += typeof delta["content"] === "string" ? delta["content"] : joined(parts, "text");
  reading.refusal += textOf(delta["refusal"]);
  reading.reasoning += reasoningOf(delta, parts);
  reading.mirrored += textOf(delta["reasoning_content"]);
  for (const detail of listOf(delta["reasoning_details"]).map(objectOf))
    reading.signed += textOf(detail["signature"]) + opaqueOf(textOf(detail["data"]));
  for (const each of listOf(delta["annotations"]).map(objectOf))
    reading.citations.push(textOf(objectOf(each["url_citation"])["url"]));
  listOf(delta["tool_calls"]).forEach((call, position) => addCall(reading, slots, objectOf(call), position));
  const legacy = delta["function_call"];
  if (legacy) addCall(reading, slots, { index: "legacy", function: legacy }, 0);
}

/** A part that only Google knows stands here whole, with its signature or without. */
function opaqueOf(data: string): string {
  if (!data.startsWith('{"')) return data;
  const part = objectOf(JSON.parse(data));
  return textOf(part["thoughtSignature"] ?? part["thought_signature"]);
}

/** Vendors mirror the same text in two members: the first that says something counts. */
function reasoningOf(delta: Value, parts: readonly Value[]): string {
  const details = listOf(delta["reasoning_details"]).map(objectOf);
  const thinking = parts.map((part) => joined(listOf(part["thinking"]).map(objectOf), "text")).join("");
  const said = [delta["reasoning_content"], delta["reasoning"], joined(details, "text"), thinking];
  return said.map(textOf).find((text) => text !== "") ?? joined(details, "summary");
}

function addCall(reading: Reading, slots: Slot[], call: Value, position: number): void {
  const named = objectOf(call["function"] ?? call["custom"]);
  const id = textOf(call["id"]);
  const name = textOf(named["name"]);
  const key = call["index"] ?? (id || position);
  const slot = slots.findLast((each) => each.key === key);
  const isNew = !slot || (id !== "" && id !== slot.call.id && name !== "" && slot.call.name !== "");
  const input = writeInput(
    named["arguments"] ?? named["input"],
    call["custom"] != null && call["function"] == null,
  );
  if (isNew) {
    const made = { id, name, input };
    slots.push({ key, call: made });
    reading.calls.push(made);
    return;
  }
  slot.call.id ||= id;
  slot.call.name ||= name;
  slot.call.input += input;
}

/** Arguments as JSON text; the text of a custom tool is wrapped in `input`. */
function writeInput(value: unknown, custom: boolean): string {
  if (custom) return JSON.stringify({ input: value });
  return typeof value === "string" ? value : value ? JSON.stringify(value) : "";
}

function addBlock(reading: Reading, block: Value): void {
  const kind = block["type"];
  if (kind === "text") reading.text += textOf(block["text"]);
  // Only what was found on the web has an address.
  for (const each of listOf(block["citations"]).map(objectOf))
    if (each["type"] === "web_search_result_location") reading.citations.push(textOf(each["url"]));
  if (kind === "thinking") reading.reasoning += textOf(block["thinking"]);
  if (kind === "thinking") reading.signed += textOf(block["signature"]);
  if (kind === "redacted_thinking") reading.signed += textOf(block["data"]);
  // Calls that the vendor's own code execution makes are its affair.
  const caller = objectOf(block["caller"])["type"] ?? "direct";
  if (kind !== "tool_use" || caller !== "direct") return;
  const input = textOf(block["partial"]) || JSON.stringify(block["input"] ?? {});
  reading.calls.push({ id: textOf(block["id"]), name: textOf(block["name"]), input });
}

function growBlock(block: Value, delta: Value): void {
  const add = (name: string, more: unknown) => (block[name] = textOf(block[name]) + textOf(more));
  if (delta["type"] === "text_delta") add("text", delta["text"]);
  if (delta["type"] === "thinking_delta") add("thinking", delta["thinking"]);
  if (delta["type"] === "signature_delta") add("signature", delta["signature"]);
  if (delta["type"] === "input_json_delta") add("partial", delta["partial_json"]);
  if (delta["type"] === "citations_delta")
    block["citations"] = [...listOf(block["citations"]), delta["citation"]];
}

/** Some servers send `""` for null; OpenRouter has the vendor's own word beside the finish reason. */
function chatEnding(choice: Value): Pick<Reading, "finish" | "stopSequence"> {
  const native = textOf(choice["native_finish_reason"]).toLowerCase();
  const ranOut = /length|max_(output_)?tokens/.test(native);
  const finish = textOf(choice["finish_reason"]) || undefined;
  const stop = choice["stop_reason"];
  return {
    finish: finish && ranOut ? "length" : finish,
    stopSequence: typeof stop === "string" ? stop : undefined,
  };
}

function messageEnding(body: Value): Pick<Reading, "finish" | "stopSequence"> {
  const stop = body["stop_sequence"];
  return {
    finish: textOf(body["stop_reason"]) || undefined,
    stopSequence: typeof stop === "string" ? stop : undefined,
  };
}

/** Where vendors put the counts: `usage`, Groq `x_groq.usage`, Moonshot `choices[0].usage`. */
function chatUsage(body: Value): Buckets | undefined {
  const places = [body["usage"], objectOf(body["x_groq"])["usage"], firstChoice(body)["usage"]];
  const usage = objectOf(places.find((place) => place));
  const [prompt, completion] = [count(usage["prompt_tokens"]), count(usage["completion_tokens"])];
  if (prompt + completion === 0) return undefined;
  const details = objectOf(usage["prompt_tokens_details"]);
  const cacheRead = count(
    details["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"],
  );
  const cacheWrite = count(details["cache_write_tokens"] ?? details["cache_creation_tokens"]);
  const reasoning = count(
    objectOf(usage["completion_tokens_details"])["reasoning_tokens"] ?? usage["reasoning_tokens"],
  );
  // xAI and Gemini leave reasoning out of the completion; then only all three make the total.
  const apart = reasoning > 0 && count(usage["total_tokens"]) === prompt + completion + reasoning;
  return {
    input: cacheRead > prompt ? prompt : Math.max(0, prompt - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: apart ? completion + reasoning : Math.max(completion, reasoning),
    reasoning,
  };
}

function messagesUsage(usage: Value): Buckets | undefined {
  if (usage["output_tokens"] === undefined) return undefined;
  return {
    input: count(usage["input_tokens"]),
    cacheRead: count(usage["cache_read_input_tokens"]),
    cacheWrite: count(usage["cache_creation_input_tokens"]),
    output: count(usage["output_tokens"]),
    reasoning: count(objectOf(usage["output_tokens_details"])["thinking_tokens"]),
  };
}

function firstChoice(body: Value): Value {
  const choices = listOf(body["choices"]).map(objectOf);
  return choices.find((choice) => (choice["index"] ?? 0) === 0) ?? {};
}

function lastChoice(body: Value): number {
  return Math.max(0, ...listOf(body["choices"]).map((choice) => count(objectOf(choice)["index"])));
}

function joined(parts: readonly Value[], name: string): string {
  return parts.map((part) => textOf(part[name])).join("");
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.trunc(value) : 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
