/**
 * A judge of streamed responses. `openai` accepts streams without sequence numbers, without `.done` events and without an
 * ending, which other clients do not; this judge holds every event to the life cycle of responses, items and parts.
 */
import { isDeepStrictEqual } from "node:util";
import type OpenAI from "openai";
import type { Frame } from "../../src/core/frame.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../src/core/json.ts";
import { parseFrames, writeFrame } from "../../src/stream/sse.ts";
import { openaiClient } from "./sdk.ts";

/** What may differ from a stream that weir writes itself. */
export interface JudgedAs {
  /** A provider wrote the stream and weir passed it on: events of hosted tools are allowed. */
  isRelayed?: boolean;
}

const LIFECYCLE: Readonly<Record<string, string>> = {
  "response.created": "in_progress",
  "response.queued": "queued",
  "response.in_progress": "in_progress",
};

const TERMINAL: Readonly<Record<string, string>> = {
  "response.completed": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
};

/** Events about a part of an item: the member that counts the parts, and the member of the item that lists them. */
const PARTS = {
  content: { index: "content_index", list: "content", prefix: "response.content_part" },
  summary: { index: "summary_index", list: "summary", prefix: "response.reasoning_summary_part" },
} as const;

type PartList = keyof typeof PARTS;

interface TextEvent {
  list: PartList;
  /** The type of the part. */
  part: string;
  /** The member with the whole text, in the `.done` event and in the part. */
  member: string;
}

/** Events that add to a part, without `.delta` or `.done`. */
const TEXTS: Readonly<Record<string, TextEvent>> = {
  "response.output_text": { list: "content", part: "output_text", member: "text" },
  "response.refusal": { list: "content", part: "refusal", member: "refusal" },
  "response.reasoning_text": { list: "content", part: "reasoning_text", member: "text" },
  "response.reasoning_summary_text": { list: "summary", part: "summary_text", member: "text" },
};

/** Events that add to the input of a call, without `.delta` or `.done`. */
const INPUTS: Readonly<Record<string, { item: string; member: string }>> = {
  "response.function_call_arguments": { item: "function_call", member: "arguments" },
  "response.custom_tool_call_input": { item: "custom_tool_call", member: "input" },
};

const ANNOTATION = "response.output_text.annotation.added";

/** Every type that a stream of weir may contain: `openai`'s `.stream()` throws at any other. */
export const WRITTEN_TYPES: ReadonlySet<string> = new Set([
  ...Object.keys(LIFECYCLE),
  ...Object.keys(TERMINAL),
  "error",
  "response.output_item.added",
  "response.output_item.done",
  ...Object.values(PARTS).flatMap(({ prefix }) => [`${prefix}.added`, `${prefix}.done`]),
  ...[...Object.keys(TEXTS), ...Object.keys(INPUTS)].flatMap((name) => [`${name}.delta`, `${name}.done`]),
  ANNOTATION,
]);

/** What a stream that weir passes on may contain beside those. */
const RELAYED =
  /^keepalive$|^response\.(audio|(web_search|file_search|code_interpreter|image_generation|mcp|shell)_call|code_interpreter_call_code|mcp_call_arguments|mcp_list_tools|shell_call_(command|output_content)|compaction)\./;

/** Members that every response object must have. */
export const RESPONSE_MEMBERS: readonly string[] = [
  ...[
    "id",
    "object",
    "created_at",
    "status",
    "model",
    "output",
    "error",
    "incomplete_details",
    "instructions",
  ],
  ...["metadata", "parallel_tool_calls", "temperature", "top_p", "tool_choice", "tools", "background"],
  ...["max_output_tokens", "max_tool_calls", "previous_response_id", "reasoning", "safety_identifier"],
  ...["service_tier", "store", "text", "top_logprobs", "truncation", "user", "usage"],
];

/** Holds a streamed response to all rules. @returns the faults, each with the number of its event; none for a right stream */
export function judgeResponses(frames: readonly Frame[], as: JudgedAs = {}): string[] {
  const judge = new Judge(as);
  for (const frame of frames) judge.read(frame);
  return judge.finish();
}

/**
 * Holds the bytes of a stream that weir wrote to all rules, and to those of `openai`'s `.stream()`: it must accept every
 * event, and what it accumulates of them must be the output of the terminal event.
 */
export async function judgeWritten(bytes: Uint8Array): Promise<string[]> {
  const frames = parseFrames(bytes);
  return [...judgeResponses(frames), ...(await judgeBySdk(frames))];
}

/** What `openai`'s `.stream()` makes of a streamed response. @throws what it throws */
export async function readBySdk(frames: readonly Frame[]): Promise<OpenAI.Responses.Response> {
  const body = frames.map(writeFrame).join("");
  const answer = () =>
    Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  const client = openaiClient("http://sdk.invalid", {
    fetch: Object.assign(answer, { preconnect: fetch.preconnect }),
  });
  return client.responses.stream({ model: "m", input: "x" }).finalResponse();
}

async function judgeBySdk(frames: readonly Frame[]): Promise<string[]> {
  const last = parseJson(frames.at(-1)?.data ?? "");
  if (!isObject(last) || last["type"] === "error") return [];
  try {
    const { status } = await readBySdk(frames);
    if (!isObject(last["response"]) || status === "failed") return [];
    const { output, ...rest } = last["response"];
    // Of a terminal event without output the SDK takes what it has accumulated.
    const bare = { ...frames.at(-1), data: JSON.stringify({ ...last, response: rest }) };
    const rebuilt = await readBySdk([...frames.slice(0, -1), bare]);
    if (isDeepStrictEqual(rebuilt.output.map(asSent), output)) return [];
    return ["The SDK accumulates another output than that of the terminal event."];
  } catch (thrown) {
    return [`The SDK throws: ${(thrown as Error).message}`];
  }
}

/** An item without what the SDK adds to it. */
function asSent(item: object): Json {
  const own = (name: string, value: unknown) => (name.startsWith("parsed") ? undefined : value);
  return JSON.parse(JSON.stringify(item, own)) as Json;
}

/** Holds a response object to all rules but those of its status. @returns the faults */
export function judgeResponseObject(response: JsonObject): string[] {
  const faults = RESPONSE_MEMBERS.filter((name) => response[name] === undefined).map(
    (name) => `the response has no "${name}"`,
  );
  if (response["object"] !== "response") faults.push(`"object" is ${JSON.stringify(response["object"])}`);
  if (!Number.isInteger(response["created_at"])) faults.push('"created_at" is no whole number of seconds');
  if ("output_text" in response) faults.push('the response has "output_text", which the SDK adds itself');
  const isFailed = response["status"] === "failed";
  if (isObject(response["error"]) !== isFailed)
    faults.push(isFailed ? "no error" : "an error without failure");
  const isIncomplete = response["status"] === "incomplete";
  if (isObject(response["incomplete_details"]) !== isIncomplete)
    faults.push(isIncomplete ? "no incomplete_details" : "incomplete_details of a complete response");
  return [...faults, ...judgeUsage(response["usage"])];
}

function judgeUsage(usage: Json | undefined): string[] {
  if (!isObject(usage)) return [];
  const count = (value: Json | undefined) => (typeof value === "number" ? value : Number.NaN);
  const faults: string[] = [];
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  if (count(total) !== count(input) + count(output))
    faults.push("total_tokens is not the sum of both counts");
  const parts = [
    ["input_tokens_details", "cached_tokens", input],
    ["output_tokens_details", "reasoning_tokens", output],
  ] as const;
  for (const [details, member, whole] of parts) {
    const found = usage[details];
    if (!isObject(found)) faults.push(`usage has no ${details}`);
    else if (!(count(found[member]) <= count(whole))) faults.push(`${member} is no part of its count`);
  }
  return faults;
}

interface Part {
  type: string;
  text: string;
  annotations: Json[];
  isTextDone: boolean;
  isDone: boolean;
}

interface Item {
  id: string;
  type: string;
  parts: Record<PartList, Part[]>;
  /** Arguments of a call so far. */
  input: string;
  isInputDone: boolean;
  /** The item of `output_item.done`. */
  done?: JsonObject;
}

class Judge {
  readonly #as: JudgedAs;
  readonly #faults: string[] = [];
  readonly #items: Item[] = [];
  #number = -1;
  #type = "";
  #responseId: Json | undefined;
  #isInProgress = false;
  #ended = false;
  /** The last event was `response.failed`: the event `error` may say it again. */
  #isFailed = false;

  constructor(as: JudgedAs) {
    this.#as = as;
  }

  read(frame: Frame): void {
    this.#number++;
    const data = parseJson(frame.data);
    this.#type = isObject(data) ? String(data["type"]) : "";
    if (!isObject(data)) return this.#fault("is no JSON object");
    if (frame.event !== this.#type) this.#fault(`has the event name "${frame.event}"`);
    if (this.#ended && !(this.#isFailed && this.#type === "error")) this.#fault("comes after the end");
    this.#isFailed = this.#type === "response.failed";
    if (data["sequence_number"] !== this.#number)
      this.#fault(`has the sequence number ${JSON.stringify(data["sequence_number"])}`);
    const isRelayed = this.#as.isRelayed && RELAYED.test(this.#type);
    if (!WRITTEN_TYPES.has(this.#type) && !isRelayed)
      return this.#fault("has a type that clients do not know");
    this.#readKnown(this.#type, data);
  }

  finish(): string[] {
    if (!this.#ended) this.#faults.push(`The ${this.#number + 1} events have no terminal event.`);
    return this.#faults;
  }

  #readKnown(type: string, data: JsonObject): void {
    if (type === "error") {
      this.#ended = true;
      return;
    }
    if (type in LIFECYCLE || type in TERMINAL) return this.#lifecycle(type, data);
    if (this.#responseId === undefined) this.#fault("comes before response.created");
    if (type === "response.output_item.added") return this.#addItem(data);
    const item = this.#itemOf(data);
    if (!item) return;
    if (type === "response.output_item.done") return this.#endItem(item, data);
    if (item.done) return this.#fault("comes after its item ended");
    if (data["item_id"] !== item.id)
      this.#fault(`is about ${JSON.stringify(data["item_id"])}, and its item is "${item.id}"`);
    const cut = type.lastIndexOf(".");
    const [name, step] = [type.slice(0, cut), type.slice(cut + 1)];
    for (const list of ["content", "summary"] as const)
      if (name === PARTS[list].prefix) return this.#part(list, step, item, data);
    if (type === ANNOTATION) return this.#annotation(item, data);
    if (TEXTS[name]) return this.#text(TEXTS[name], step, item, data);
    if (INPUTS[name]) return this.#input(INPUTS[name], step, item, data);
  }

  #lifecycle(type: string, data: JsonObject): void {
    const response = data["response"];
    const isTerminal = type in TERMINAL;
    if (isTerminal) this.#ended = true;
    if (!isObject(response)) return this.#fault("has no response");
    for (const fault of judgeResponseObject(response)) this.#fault(`has a wrong response: ${fault}`);
    const status = LIFECYCLE[type] ?? TERMINAL[type];
    if (response["status"] !== status) this.#fault(`says status ${JSON.stringify(response["status"])}`);
    if (type === "response.created") {
      if (this.#number !== 0) this.#fault("is not the first event");
      this.#responseId = response["id"];
    } else if (this.#number === 0) this.#fault("is the first event instead of response.created");
    if (response["id"] !== this.#responseId) this.#fault("has another response id");
    if (isTerminal) return this.#terminal(type, response);
    if (!isDeepStrictEqual(response["output"], [])) this.#fault("has output before there is any");
    if (response["usage"] !== null) this.#fault("counts tokens before the end");
    if (type !== "response.in_progress") return;
    if (this.#isInProgress || this.#items.length > 0) this.#fault("is out of place");
    this.#isInProgress = true;
  }

  #terminal(type: string, response: JsonObject): void {
    if (!this.#isInProgress) this.#fault("ends a response that was never in progress");
    const output = Array.isArray(response["output"]) ? response["output"] : [];
    const isFailed = type === "response.failed";
    if (!isFailed && !isObject(response["usage"])) this.#fault("has no token counts");
    this.#items.forEach(({ id, done }, index) => {
      // A failed response may leave its last items open, and out of its output.
      if (!done) return isFailed || this.#fault(`leaves item "${id}" open`);
      if (!isDeepStrictEqual(output[index], done))
        this.#fault(`has another item ${index} than its item ended with`);
      if (type === "response.completed" && done["status"] === "incomplete")
        this.#fault(`completes with the incomplete item "${id}"`);
    });
    if (output.length > this.#items.length) this.#fault("has items that were never added");
  }

  #addItem(data: JsonObject): void {
    const item = data["item"];
    if (!isObject(item)) return this.#fault("has no item");
    if (data["output_index"] !== this.#items.length)
      this.#fault(
        `has the output_index ${JSON.stringify(data["output_index"])} instead of ${this.#items.length}`,
      );
    const { id, type } = item;
    if (typeof id !== "string" || id === "") this.#fault("adds an item without id");
    if (this.#items.some((other) => other.id === id)) this.#fault("adds an item with the id of another");
    const added: Item = {
      id: String(id),
      type: String(type),
      parts: { content: [], summary: [] },
      input: "",
      isInputDone: false,
    };
    this.#items.push(added);
    if ("status" in item && item["status"] !== "in_progress")
      this.#fault("adds an item that is not in progress");
    for (const list of ["content", "summary"] as const)
      if (item[list] !== undefined && !isDeepStrictEqual(item[list], []))
        this.#fault(`adds an item that already has ${list}`);
    const member = inputOf(added.type);
    if (!member) return;
    if (item[member] !== "") this.#fault(`adds a call that already has ${member}`);
    for (const name of ["call_id", "name"])
      if (typeof item[name] !== "string" || item[name] === "") this.#fault(`adds a call without ${name}`);
  }

  #endItem(item: Item, data: JsonObject): void {
    const done = data["item"];
    if (!isObject(done)) return this.#fault("has no item");
    if (item.done) return this.#fault("ends an item again");
    item.done = done;
    if (done["id"] !== item.id) this.#fault(`ends the item "${item.id}" as ${JSON.stringify(done["id"])}`);
    if (done["type"] !== item.type) this.#fault(`ends an item as another type`);
    if (done["status"] === "in_progress") this.#fault("ends an item that is still in progress");
    const member = inputOf(item.type);
    if (member && !item.isInputDone) this.#fault(`ends a call before its ${member}`);
    if (member && done[member] !== item.input) this.#fault(`ends a call with other ${member}`);
    if (item.type !== "message" && item.type !== "reasoning") return;
    for (const list of ["content", "summary"] as const) this.#judgeParts(list, item, done);
  }

  #judgeParts(list: PartList, item: Item, done: JsonObject): void {
    const found = done[list] ?? [];
    const parts = item.parts[list];
    if (parts.some(({ isDone }) => !isDone)) this.#fault(`ends an item with an open part of its ${list}`);
    if (!Array.isArray(found) || found.length !== parts.length)
      return this.#fault(`ends an item with another number of parts of its ${list}`);
    parts.forEach((part, index) => this.#samePart(part, found[index]));
  }

  #part(list: PartList, step: string, item: Item, data: JsonObject): void {
    const parts = item.parts[list];
    const index = data[PARTS[list].index];
    const value = data["part"];
    if (!isObject(value)) return this.#fault("has no part");
    if (step === "added") {
      if (index !== parts.length)
        this.#fault(`has the ${PARTS[list].index} ${JSON.stringify(index)} instead of ${parts.length}`);
      const part: Part = {
        type: String(value["type"]),
        text: "",
        annotations: [],
        isTextDone: false,
        isDone: false,
      };
      parts.push(part);
      return this.#samePart(part, value);
    }
    const part = typeof index === "number" ? parts[index] : undefined;
    if (!part) return this.#fault("ends a part that was not added");
    if (part.isDone) this.#fault("ends a part again");
    if (!part.isTextDone) this.#fault("ends a part before its text");
    part.isDone = true;
    this.#samePart(part, value);
  }

  #samePart(part: Part, value: Json | undefined): void {
    if (!isObject(value) || value["type"] !== part.type) return this.#fault("has a part of another type");
    const text = value[part.type === "refusal" ? "refusal" : "text"];
    if (text !== part.text) this.#fault(`has a part with other text than its deltas`);
    if (part.type !== "output_text") return;
    if (!isDeepStrictEqual(value["annotations"], part.annotations))
      this.#fault("has a part with other annotations than were added");
  }

  #text({ list, part: type, member }: TextEvent, step: string, item: Item, data: JsonObject): void {
    const index = data[PARTS[list].index];
    const part = typeof index === "number" ? item.parts[list][index] : undefined;
    if (!part) return this.#fault("is about a part that was not added");
    if (part.type !== type) this.#fault(`is about a part of type ${part.type}`);
    if (part.isTextDone) return this.#fault("comes after the text of its part ended");
    if (step === "delta") {
      if (typeof data["delta"] !== "string") return this.#fault("has no delta");
      part.text += data["delta"];
      return;
    }
    part.isTextDone = true;
    if (data[member] !== part.text) this.#fault("ends with other text than its deltas");
  }

  #annotation(item: Item, data: JsonObject): void {
    const index = data["content_index"];
    const part = typeof index === "number" ? item.parts.content[index] : undefined;
    if (!part || part.isTextDone) return this.#fault("is about a part that is not open");
    if (data["annotation_index"] !== part.annotations.length) this.#fault("has the wrong annotation_index");
    part.annotations.push(data["annotation"] ?? null);
  }

  #input(
    { item: type, member }: { item: string; member: string },
    step: string,
    item: Item,
    data: JsonObject,
  ): void {
    if (item.type !== type) this.#fault(`is about an item of type ${item.type}`);
    if (item.isInputDone) return this.#fault("comes after the input of its call ended");
    if (step === "delta") {
      if (typeof data["delta"] !== "string") return this.#fault("has no delta");
      item.input += data["delta"];
      return;
    }
    item.isInputDone = true;
    if (data[member] !== item.input) this.#fault("ends with other input than its deltas");
  }

  #itemOf(data: JsonObject): Item | undefined {
    const index = data["output_index"];
    const item = typeof index === "number" ? this.#items[index] : undefined;
    if (!item) this.#fault(`is about item ${JSON.stringify(index)}, which was not added`);
    return item;
  }

  #fault(what: string): void {
    this.#faults.push(`Event ${this.#number} (${this.#type}) ${what}.`);
  }
}

function inputOf(type: string): string | undefined {
  return Object.values(INPUTS).find(({ item }) => item === type)?.member;
}
