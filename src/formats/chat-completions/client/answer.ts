/** Writes canonical events as an answer, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { checkCalls, readToolInput } from "../../shared/tool-input.ts";
import { encodeUsage } from "../usage.ts";
import { DeltaWriter } from "./answer-writer.ts";

/** Begins a streamed answer: role, deltas, one finish reason, usage if the client asked for it, `[DONE]`. */
export function writeStream(context: CodecContext): AnswerWriter {
  return new StreamWriter(context);
}

/** Writes a JSON answer, assembled from the deltas of its stream. @throws GatewayError if `message-end` is missing */
export function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  const writer = new DeltaWriter(context);
  const message = new Message();
  let id = "";
  for (const event of events) {
    if (event.type === "message-start") id = event.id;
    for (const delta of writer.write(event)) message.add(delta);
    if (event.type !== "message-end") continue;
    message.settleCalls(event.reason.kind === "length", context);
    const { finish_reason, ...others } = writer.end(event.reason);
    return {
      ...envelope("chat.completion", id, context),
      choices: [{ index: 0, message: message.toJson(), logprobs: null, finish_reason, ...others }],
      usage: encodeUsage(event.usage),
    };
  }
  throw incompleteStream();
}

class StreamWriter implements AnswerWriter {
  readonly #context: CodecContext;
  readonly #deltas: DeltaWriter;
  readonly #includeUsage: boolean;
  #chunks: ChunkWriter;
  #ended = false;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#deltas = new DeltaWriter(context);
    this.#includeUsage = context.request?.style.includeUsage === true;
    this.#chunks = this.#chunksOf("");
  }

  push(event: ChatEvent): Frame[] {
    if (event.type === "message-start") this.#chunks = this.#chunksOf(event.id);
    const frames = this.#deltas.write(event).map((delta) => this.#chunks.delta(delta));
    return event.type === "message-end" ? [...frames, ...this.#finish(event)] : frames;
  }

  end(): Frame[] {
    if (!this.#ended) throw incompleteStream();
    return [{ data: "[DONE]" }];
  }

  #finish({ reason, usage }: ChatEvent & { type: "message-end" }): Frame[] {
    checkCalls(this.#deltas.brokenCalls, reason);
    this.#ended = true;
    const finish = this.#chunks.finish({ ...this.#deltas.end(reason) });
    return this.#includeUsage ? [finish, this.#chunks.usage(encodeUsage(usage))] : [finish];
  }

  #chunksOf(id: string): ChunkWriter {
    return new ChunkWriter(id, this.#context, this.#includeUsage);
  }
}

/** Writes chunks; serializes their common head once. */
class ChunkWriter {
  readonly #head: string;
  readonly #tail: string;

  constructor(id: string, context: CodecContext, includeUsage: boolean) {
    this.#head = JSON.stringify(envelope("chat.completion.chunk", id, context)).slice(0, -1);
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

/** The members at the head of every chunk and of the JSON answer. */
function envelope(object: string, id: string, context: CodecContext) {
  return { id: answerId(id, context), object, created: Math.floor(Date.now() / 1000), model: context.model };
}

function answerId(id: string, context: CodecContext): string {
  const bare = (id || context.id).replace(/^(?:msg_|req_)/, "");
  return bare.startsWith("chatcmpl-") ? bare : `chatcmpl-${bare}`;
}

/** Assembles a message from deltas; texts are joined once, at the end. */
class Message {
  readonly #texts: Record<string, string[]> = {
    __proto__: null!,
    content: [],
    refusal: [],
    reasoning_content: [],
  };
  readonly #calls: JsonObject[] = [];
  readonly #details: JsonObject[] = [];
  readonly #annotations: Json[] = [];
  readonly #images: Json[] = [];
  readonly #hostedResults: Json[] = [];
  #functionCall: JsonObject | undefined;

  add(delta: JsonObject): void {
    for (const name in delta) if (name in this.#texts) this.#addText(name, delta[name]);
    for (const call of objects(delta.tool_calls))
      this.#calls[call.index as number] = mergeDelta(this.#calls[call.index as number], call);
    for (const detail of objects(delta.reasoning_details)) this.#addDetail(detail);
    if (delta.annotations) this.#annotations.push(...objects(delta.annotations));
    if (delta.images) this.#images.push(...objects(delta.images));
    this.#hostedResults.push(...objects(delta.weir_tool_results));
    if (isObject(delta.function_call))
      this.#functionCall = mergeDelta(this.#functionCall, delta.function_call);
  }

  #addText(name: string, text: Json | undefined): void {
    if (typeof text === "string" && text !== "") this.#texts[name]!.push(text);
  }

  /**
   * Repairs arguments that are not JSON. Removes a call whose arguments were cut off with the answer, because the client
   * must not run it.
   */
  settleCalls(cut: boolean, context: CodecContext): void {
    const calls = this.#calls.splice(0).map((each, index) => {
      if (!isObject(each.function)) return each;
      const settled = settleArguments(each.function, cut, `tool_calls[${index}].function`, context);
      return settled && { ...each, function: settled };
    });
    this.#calls.push(...calls.filter((each) => each !== undefined));
    if (this.#functionCall)
      this.#functionCall = settleArguments(this.#functionCall, cut, "function_call", context);
  }

  /** `content` and `refusal` are required members and may be null; other members are omitted if empty. */
  toJson(): JsonObject {
    const content = this.#texts.content!.join("");
    const refusal = this.#texts.refusal!.join("");
    const reasoning = this.#texts.reasoning_content!.join("");
    const calls = this.#calls.map(({ index: _, ...call }) => call);
    const hasOther = calls.length > 0 || this.#functionCall !== undefined || refusal !== "";
    const message: JsonObject = {
      role: "assistant",
      content: content === "" && hasOther ? null : content,
      refusal: refusal === "" ? null : refusal,
    };
    if (reasoning !== "") message.reasoning_content = reasoning;
    if (this.#details.length > 0) message.reasoning_details = this.#details;
    if (calls.length > 0) message.tool_calls = calls;
    if (this.#functionCall) message.function_call = this.#functionCall;
    if (this.#annotations.length > 0) message.annotations = this.#annotations;
    if (this.#images.length > 0) message.images = this.#images;
    if (this.#hostedResults.length > 0) message.weir_tool_results = this.#hostedResults;
    return message;
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

function settleArguments(
  body: JsonObject,
  cut: boolean,
  path: string,
  context: CodecContext,
): JsonObject | undefined {
  const { value, repair, broken } = readToolInput(String(body.arguments));
  if (!broken) return body;
  if (cut) return undefined;
  context.reportLoss("repaired", `choices[0].message.${path}.arguments`, repair);
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

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : NO_OBJECTS;
}

const NO_OBJECTS: readonly JsonObject[] = [];
