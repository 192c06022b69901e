/** Streamed and whole answers of a fake provider of responses, made from a short script. */
import { isObject, type JsonObject } from "../../src/core/json.ts";

/** An item of a scripted answer. */
export type ScriptedItem =
  | { type: "message"; text?: string; refusal?: string; phase?: string; annotations?: JsonObject[] }
  /** `summary`: one part each. `text`: open reasoning. */
  | { type: "reasoning"; summary?: readonly string[]; text?: string; encrypted?: string }
  | { type: "function_call"; callId?: string; name: string; namespace?: string; arguments: string }
  | { type: "custom_tool_call"; callId?: string; name: string; input: string }
  /** Any other item, whole from its start. */
  | { type: "whole"; item: JsonObject };

export interface ScriptedAnswer {
  /** Default `up`: the response is `resp_up`, its first message `msg_up_0`. */
  id?: string;
  model?: string;
  items: readonly ScriptedItem[];
  /** Default `completed`. */
  status?: "completed" | "incomplete" | "failed";
  /** Default `max_output_tokens`. */
  reason?: string;
  /** Of a failed answer. */
  error?: { code: string; message: string };
  usage?: JsonObject;
  store?: boolean;
  /** Sends the deltas of all calls in turns instead of one call after the other. */
  interleaved?: boolean;
  /** The ids of response and items change with every event, as GitHub Copilot sends them. */
  rotatingIds?: boolean;
  /** The terminal event lists no output, as the backend of ChatGPT sends it. */
  emptyOutput?: boolean;
  /** Records without `event:` lines and a `[DONE]` at the end, as OpenRouter sends them. */
  bare?: boolean;
  /** Members of the response object that differ from the default. */
  more?: JsonObject;
}

/** Twelve tokens of input of which five were cached, seven of output of which two were reasoning. */
export const RESPONSES_USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 19,
};

const CREATED_AT = 1_700_000_000;

/** The records of a streamed answer, one element for each. */
export function responsesStream(answer: ScriptedAnswer): string[] {
  const events = eventsOf(answer);
  const records = events.map((data, index) => {
    const numbered = { ...data, sequence_number: index };
    const sent = answer.rotatingIds ? rotated(numbered, index) : numbered;
    return record(String(data["type"]), sent, answer.bare);
  });
  return answer.bare ? [...records, "data: [DONE]\n\n"] : records;
}

/** The JSON answer. */
export function responsesBody(answer: ScriptedAnswer): JsonObject {
  const status = answer.status ?? "completed";
  return responseObject(answer, status, doneItems(answer, status));
}

/** The record of an event. @param isBare without its name */
export function record(type: string, data: JsonObject, isBare = false): string {
  return `${isBare ? "" : `event: ${type}\n`}data: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** An error event; OpenAI documents the flat shape and sends the nested one as well. */
export function responsesError(shape: "flat" | "nested", code: string, message: string): string {
  const error = { code, message, param: null };
  return record("error", shape === "flat" ? { ...error, sequence_number: 1 } : { error, sequence_number: 1 });
}

function eventsOf(answer: ScriptedAnswer): JsonObject[] {
  const status = answer.status ?? "completed";
  const begun = responseObject(answer, "in_progress", []);
  const output = doneItems(answer, status);
  const items = answer.items.map((item, index) => itemEvents(item, index, output[index]!));
  const ended = responseObject(answer, status, answer.emptyOutput ? [] : output);
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...(answer.interleaved ? inTurns(items) : items.flat()),
    { type: `response.${status}`, response: ended },
  ];
}

/** The first event of each, then the second of each, and so on. */
function inTurns(lists: readonly JsonObject[][]): JsonObject[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  ).flat();
}

function responseObject(answer: ScriptedAnswer, status: string, output: JsonObject[]): JsonObject {
  const isEnded = status !== "in_progress";
  return {
    id: `resp_${answer.id ?? "up"}`,
    object: "response",
    created_at: CREATED_AT,
    status,
    background: false,
    completed_at: status === "completed" ? CREATED_AT + 1 : null,
    error:
      status === "failed" ? (answer.error ?? { code: "server_error", message: "The model failed." }) : null,
    incomplete_details: status === "incomplete" ? { reason: answer.reason ?? "max_output_tokens" } : null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model: answer.model ?? "gpt-up",
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: answer.store ?? false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: isEnded ? (answer.usage ?? RESPONSES_USAGE) : null,
    user: null,
    ...answer.more,
  };
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};

function doneItems({ id: name = "up", items }: ScriptedAnswer, ended: string): JsonObject[] {
  return items.map((item, index) => doneItem(item, `${name}_${index}`, ended));
}

/** @param name ends the ids of the item and of its call */
function doneItem(item: ScriptedItem, name: string, ended: string): JsonObject {
  const id = `${PREFIXES[item.type] ?? "item"}_${name}`;
  const status = ended === "incomplete" ? "incomplete" : "completed";
  switch (item.type) {
    case "message":
      return {
        ...{ id, type: "message", status, role: "assistant", content: messageParts(item) },
        ...(item.phase === undefined ? {} : { phase: item.phase }),
      };
    case "reasoning":
      return {
        ...{ id, type: "reasoning", summary: (item.summary ?? []).map(summaryPart) },
        ...(item.text === undefined ? {} : { content: [{ type: "reasoning_text", text: item.text }] }),
        ...(item.encrypted === undefined ? {} : { encrypted_content: item.encrypted }),
      };
    case "function_call":
      return {
        ...{ id, type: "function_call", status, call_id: item.callId ?? `call_${name}`, name: item.name },
        ...(item.namespace === undefined ? {} : { namespace: item.namespace }),
        arguments: item.arguments,
      };
    case "custom_tool_call": {
      const { name, input } = item;
      return { id, type: "custom_tool_call", status, call_id: item.callId ?? `call_${name}`, name, input };
    }
    case "whole":
      return { id, ...item.item };
  }
}

function messageParts(item: ScriptedItem & { type: "message" }): JsonObject[] {
  const { text, refusal, annotations = [] } = item;
  return [
    ...(text === undefined ? [] : [{ type: "output_text", text, annotations, logprobs: [] }]),
    ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
  ];
}

const summaryPart = (text: string) => ({ type: "summary_text", text });

/** All events of one item. */
function itemEvents(item: ScriptedItem, index: number, done: JsonObject): JsonObject[] {
  const at = { output_index: index, item_id: done["id"] };
  const end = { type: "response.output_item.done", output_index: index, item: done };
  const start = (empty: JsonObject) => {
    const isDated = item.type !== "whole";
    const begun = isDated ? { ...done, ...empty, status: "in_progress" } : done;
    return { type: "response.output_item.added", output_index: index, item: begun };
  };
  switch (item.type) {
    case "message":
      return [
        start({ content: [] }),
        ...messageParts(item).flatMap((part, part_) => partEvents(at, part, part_)),
        end,
      ];
    case "reasoning": {
      const { content: _, encrypted_content: __, ...begun } = done;
      return [
        { ...start({}), item: { ...begun, summary: [], status: "in_progress" } },
        ...(item.summary ?? []).flatMap((text, number) => summaryEvents(at, text, number)),
        ...(item.text === undefined ? [] : partEvents(at, { type: "reasoning_text", text: item.text }, 0)),
        end,
      ];
    }
    case "function_call":
      return [
        start({ arguments: "" }),
        ...inputEvents("function_call_arguments", at, "arguments", item.arguments),
        end,
      ];
    case "custom_tool_call":
      return [start({ input: "" }), ...inputEvents("custom_tool_call_input", at, "input", item.input), end];
    case "whole":
      return [start({}), end];
  }
}

function partEvents(at: JsonObject, part: JsonObject, number: number): JsonObject[] {
  const type = String(part["type"]);
  const member = type === "refusal" ? "refusal" : "text";
  const text = String(part[member]);
  const place = { ...at, content_index: number };
  const hasLogprobs = type === "output_text" ? { logprobs: [] } : {};
  const empty = { ...part, [member]: "", ...(type === "output_text" ? { annotations: [] } : {}) };
  const annotations = (part["annotations"] ?? []) as JsonObject[];
  return [
    { type: "response.content_part.added", ...place, part: empty },
    ...inPieces(text).map((delta) => ({ type: `response.${type}.delta`, ...place, delta, ...hasLogprobs })),
    ...annotations.map((annotation, annotation_index) => ({
      ...{ type: "response.output_text.annotation.added", ...place, annotation_index, annotation },
    })),
    { type: `response.${type}.done`, ...place, [member]: text, ...hasLogprobs },
    { type: "response.content_part.done", ...place, part },
  ];
}

function summaryEvents(at: JsonObject, text: string, number: number): JsonObject[] {
  const place = { ...at, summary_index: number };
  const name = "response.reasoning_summary";
  return [
    { type: `${name}_part.added`, ...place, part: summaryPart("") },
    ...inPieces(text).map((delta) => ({ type: `${name}_text.delta`, ...place, delta })),
    { type: `${name}_text.done`, ...place, text },
    { type: `${name}_part.done`, ...place, part: summaryPart(text) },
  ];
}

function inputEvents(name: string, at: JsonObject, member: string, text: string): JsonObject[] {
  return [
    ...inPieces(text).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, [member]: text },
  ];
}

/** Four characters at a time: no piece of JSON is whole by itself. */
function inPieces(text: string): string[] {
  return text.match(/[^]{1,4}/g) ?? [];
}

/** The event with ids that no other event has. */
function rotated(event: JsonObject, number: number): JsonObject {
  const { response, item, item_id } = event;
  return {
    ...event,
    ...(isObject(response) ? { response: { ...response, id: `resp_${number}` } } : {}),
    ...(isObject(item) ? { item: { ...item, id: `item_${number}` } } : {}),
    ...(item_id === undefined ? {} : { item_id: `item_${number}` }),
  };
}
