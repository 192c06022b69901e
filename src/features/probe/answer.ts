/** Reads answers of chat-completions as loosely as hosts write them: JSON, or the chunks of a stream joined to one answer. */
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { parseFrames } from "../../stream/sse.ts";

export interface CallSeen {
  id: string;
  name: string;
  /** Arguments as JSON text. */
  input: string;
}

/** The content of an answer. */
export interface ProbeAnswer {
  text: string;
  calls: readonly CallSeen[];
  /** Finish reason of the first choice. */
  finish?: string;
  /** Text of the reasoning, and the member or the tag that it came in. */
  reasoning?: { member: "reasoning_content" | "reasoning" | "<think>"; text: string };
  usage?: JsonObject;
  /** Number of choices. */
  choices: number;
  logprobs: boolean;
}

/** How a stream went. */
export interface StreamSeen {
  /** Number of events with a choice. */
  chunks: number;
  /** `[DONE]` came. */
  done: boolean;
}

/** @returns undefined if the body is no answer of the format */
export function answerIn(body: Json | undefined): ProbeAnswer | undefined {
  if (!isObject(body) || !Array.isArray(body["choices"])) return undefined;
  const choices = body["choices"].filter(isObject);
  const [first] = choices;
  if (!first || !isObject(first["message"])) return undefined;
  const message = first["message"];
  return {
    ...textAndReasoning(textOf(message["content"]), message),
    calls: callsIn(message["tool_calls"]),
    ...(typeof first["finish_reason"] === "string" && { finish: first["finish_reason"] }),
    ...(isObject(body["usage"]) && { usage: body["usage"] }),
    choices: choices.length,
    logprobs: hasLogprobs(first),
  };
}

/** Joins the chunks of a stream. @returns undefined if no event has a choice */
export function streamIn(bytes: Uint8Array): { answer: ProbeAnswer; stream: StreamSeen } | undefined {
  // A last event without its blank line counts here: only gateways must be strict about it.
  const frames = parseFrames(Buffer.concat([bytes, Buffer.from("\n\n")]));
  const bodies = frames.map(({ data }) => parseJson(data)).filter(isObject);
  const chunks = bodies.filter(({ choices }) => Array.isArray(choices) && choices.length > 0);
  if (chunks.length === 0) return undefined;
  const message: Record<"content" | "reasoning_content" | "reasoning", string> = {
    content: "",
    reasoning_content: "",
    reasoning: "",
  };
  const calls: CallSeen[] = [];
  let finish: string | undefined;
  for (const chunk of chunks) {
    const choice = (chunk["choices"] as Json[]).find(isObject) ?? {};
    if (typeof choice["finish_reason"] === "string") finish = choice["finish_reason"];
    const delta = isObject(choice["delta"]) ? choice["delta"] : {};
    for (const member of Object.keys(message) as (keyof typeof message)[])
      message[member] += textOf(delta[member]);
    calls.push(...callsIn(delta["tool_calls"]).filter(({ name }) => name !== ""));
  }
  const usage = bodies.findLast((body) => isObject(body["usage"]))?.["usage"];
  const answer: ProbeAnswer = {
    ...textAndReasoning(message.content, message),
    calls,
    ...(finish !== undefined && { finish }),
    ...(isObject(usage) && { usage }),
    choices: 1,
    logprobs: false,
  };
  return { answer, stream: { chunks: chunks.length, done: frames.some(({ data }) => data === "[DONE]") } };
}

/** The number of output tokens that an answer reports. */
export function outputTokens({ usage }: ProbeAnswer): number | undefined {
  const count = usage?.["completion_tokens"];
  return typeof count === "number" ? count : undefined;
}

/** Whether the model thought before it answered: such a model needs more tokens for an answer. */
export function hasReasoned({ reasoning, usage, text, calls, finish }: ProbeAnswer): boolean {
  const details = usage?.["completion_tokens_details"];
  const counted = isObject(details) && Number(details["reasoning_tokens"] ?? 0) > 0;
  return (
    reasoning !== undefined || counted || (text.trim() === "" && calls.length === 0 && finish === "length")
  );
}

const THINKING = /^\s*<think>([^]*?)(?:<\/think>|$)/;

function textAndReasoning(content: string, message: JsonObject): Pick<ProbeAnswer, "text" | "reasoning"> {
  for (const member of ["reasoning_content", "reasoning"] as const) {
    const text = textOf(message[member]);
    if (text !== "") return { text: content, reasoning: { member, text } };
  }
  const tag = THINKING.exec(content);
  if (!tag) return { text: content };
  return { text: content.slice(tag[0].length), reasoning: { member: "<think>", text: tag[1]! } };
}

/** Content as text: a string, or the texts of a list of parts. */
function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

function callsIn(list: Json | undefined): CallSeen[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map((call) => {
    const body = isObject(call["function"]) ? call["function"] : {};
    const input = body["arguments"];
    return {
      id: typeof call["id"] === "string" ? call["id"] : "",
      name: typeof body["name"] === "string" ? body["name"] : "",
      input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
    };
  });
}

function hasLogprobs({ logprobs }: JsonObject): boolean {
  if (!isObject(logprobs)) return false;
  return ["content", "tokens"].some((member) => {
    const list = logprobs[member];
    return Array.isArray(list) && list.length > 0;
  });
}
