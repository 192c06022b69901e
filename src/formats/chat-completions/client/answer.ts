/** Encodes canonical events as an answer, streamed or whole. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { checkCalls, readToolInput } from "../../shared/tool-input.ts";
import { encodeUsage } from "../usage.ts";
import { DeltaWriter } from "./writer.ts";

/** The members at the head of every chunk and of the JSON answer. */
function envelope(object: string, id: string, call: Call) {
  return { id: answerId(id, call), object, created: Math.floor(Date.now() / 1000), model: call.model };
}

function answerId(id: string, call: Call): string {
  const bare = (id || call.id).replace(/^(?:msg_|req_)/, "");
  return bare.startsWith("chatcmpl-") ? bare : `chatcmpl-${bare}`;
}

/** The error for events that stop before `message-end`. */
function incomplete(): GatewayError {
  return new GatewayError("upstream", "The answer ended before it was complete.", {
    code: "stream_incomplete",
  });
}

/** Encodes one JSON answer. @throws GatewayError if the events do not end with `message-end` */
export function encodeAnswer(events: readonly ChatEvent[], call: Call): JsonObject {
  const writer = new DeltaWriter(call);
  const message = new Message();
  let id = "";
  for (const event of events) {
    if (event.type === "message-start") id = event.id;
    for (const delta of writer.write(event)) message.add(delta);
    if (event.type !== "message-end") continue;
    for (const delta of writer.refusal(event.reason)) message.add(delta);
    message.settleCalls(event.reason.kind === "length", call);
    const { finish_reason, ...others } = writer.end(event.reason);
    return {
      ...envelope("chat.completion", id, call),
      choices: [{ index: 0, message: message.toJson(), logprobs: null, finish_reason, ...others }],
      usage: encodeUsage(event.usage),
    };
  }
  throw incomplete();
}

/** Assembles a message from deltas; texts are joined once, at the end. */
class Message {
  readonly #texts: Record<string, string[]> = { content: [], refusal: [], reasoning_content: [] };
  readonly #calls: JsonObject[] = [];
  readonly #details: JsonObject[] = [];
  readonly #annotations: Json[] = [];
  #functionCall: JsonObject | undefined;

  add(delta: JsonObject): void {
    for (const [name, texts] of Object.entries(this.#texts)) {
      const text = delta[name];
      if (typeof text === "string" && text !== "") texts.push(text);
    }
    for (const call of objects(delta.tool_calls))
      this.#calls[call.index as number] = mergeDelta(this.#calls[call.index as number], call);
    for (const detail of objects(delta.reasoning_details)) this.#addDetail(detail);
    this.#annotations.push(...objects(delta.annotations));
    if (isObject(delta.function_call))
      this.#functionCall = mergeDelta(this.#functionCall, delta.function_call);
  }

  /**
   * Repairs arguments that are not JSON. Removes a call whose arguments were cut off with the answer, because the client
   * must not run it.
   */
  settleCalls(cut: boolean, call: Call): void {
    const calls = this.#calls.splice(0).map((each, index) => {
      if (!isObject(each.function)) return each;
      const settled = settleArguments(each.function, cut, `tool_calls[${index}].function`, call);
      return settled && { ...each, function: settled };
    });
    this.#calls.push(...calls.filter((each) => each !== undefined));
    if (this.#functionCall)
      this.#functionCall = settleArguments(this.#functionCall, cut, "function_call", call);
  }

  /** `content` and `refusal` are required members and may be null; other members are omitted if empty. */
  toJson(): JsonObject {
    const content = this.#texts.content!.join("");
    const refusal = this.#texts.refusal!.join("");
    const reasoning = this.#texts.reasoning_content!.join("");
    const calls = this.#calls.map(({ index: _, ...call }) => call);
    const hasOther = calls.length > 0 || this.#functionCall !== undefined || refusal !== "";
    return {
      role: "assistant",
      content: content === "" && hasOther ? null : content,
      refusal: refusal === "" ? null : refusal,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#functionCall && { function_call: this.#functionCall }),
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
    };
  }

  /** Joins fragments of one reasoning block to one entry. */
  #addDetail(detail: JsonObject): void {
    const last = this.#details.at(-1);
    const same =
      last?.index === detail.index && last?.type === "reasoning.text" && detail.type === "reasoning.text";
    if (last && same) this.#details[this.#details.length - 1] = mergeDelta(last, detail, ["text"]);
    else this.#details.push(detail);
  }
}

function settleArguments(body: JsonObject, cut: boolean, path: string, call: Call): JsonObject | undefined {
  const { value, repair, broken } = readToolInput(String(body.arguments));
  if (!broken) return body;
  if (cut) return undefined;
  call.reportLoss("repaired", `choices[0].message.${path}.arguments`, repair);
  return { ...body, arguments: JSON.stringify(value) };
}

/** Members whose fragments are concatenated. */
const CONCATENATED = ["arguments", "input"];

function mergeDelta(
  before: JsonObject | undefined,
  delta: JsonObject,
  concatenated: readonly string[] = CONCATENATED,
): JsonObject {
  if (!before) return delta;
  const after = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const old = before[name];
    if (isObject(value) && isObject(old)) after[name] = mergeDelta(old, value, concatenated);
    else
      after[name] = concatenated.includes(name) && typeof old === "string" ? `${old}${String(value)}` : value;
  }
  return after;
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Encodes a stream: role, deltas, one finish reason, usage if the client asked for it, `[DONE]`.
 * @throws GatewayError if the events do not end with `message-end`
 */
export async function* encodeStream(events: AsyncIterable<ChatEvent>, call: Call): AsyncGenerator<Frame> {
  const writer = new DeltaWriter(call);
  const includeUsage = call.request?.style.includeUsage === true;
  let chunk = new ChunkWriter("", call, includeUsage);
  for await (const event of events) {
    if (event.type === "message-start") chunk = new ChunkWriter(event.id, call, includeUsage);
    for (const delta of writer.write(event)) yield chunk.delta(delta);
    if (event.type !== "message-end") continue;
    checkCalls(writer.brokenCalls, event.reason);
    for (const delta of writer.refusal(event.reason)) yield chunk.delta(delta);
    yield chunk.finish({ ...writer.end(event.reason) });
    if (includeUsage) yield chunk.usage(encodeUsage(event.usage));
    yield { data: "[DONE]" };
    return;
  }
  throw incomplete();
}

/** Writes chunks; serializes their common head once. */
class ChunkWriter {
  readonly #head: string;
  readonly #tail: string;

  constructor(id: string, call: Call, includeUsage: boolean) {
    this.#head = JSON.stringify(envelope("chat.completion.chunk", id, call)).slice(0, -1);
    this.#tail = includeUsage ? ',"usage":null}' : "}";
  }

  delta(delta: JsonObject): Frame {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":null}`;
    return { data: `${this.#head},"choices":[${choice}]${this.#tail}` };
  }

  finish(end: JsonObject): Frame {
    const choice = JSON.stringify({ index: 0, delta: {}, ...end });
    return { data: `${this.#head},"choices":[${choice}]${this.#tail}` };
  }

  usage(usage: JsonObject): Frame {
    return { data: `${this.#head},"choices":[],"usage":${JSON.stringify(usage)}}` };
  }
}
