/** Observes answers in the native lane: usage, status, errors, the id under which the provider stores the answer. */
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Frame, StreamObserver, StreamSummary } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list, text } from "../../shared/read.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { decodeStatus } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import { errorIn, errorInAnswer, failureOf } from "./errors.ts";

/** An answer is complete only with its terminal event, of which there is exactly one. */
export const watch: StreamObserver = {
  deltas: ["delta"],
  marks: [
    "response.created",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.cancelled",
    '"type":"error"',
    '"type": "error"',
    "event: error",
    "event:error",
    'data: {"error"',
    'data:{"error"',
  ],
  frame(frame: Frame, seen: StreamSummary): void {
    if (seen.terminated) return;
    const data = parseJson(frame.data);
    const error = errorIn(frame, data);
    if (error !== undefined) seen.error ??= decodeErrorBody(error);
    else if (isObject(data)) READERS.get(data.type)?.(data, seen);
  },
  answer(body: JsonObject, seen: StreamSummary): void {
    seen.error = errorInAnswer(body);
    if (seen.error) return;
    noteAnswer(body, seen);
    noteEnd(body, text(body.status), seen);
    // An answer in the background has no items yet.
    seen.terminated = seen.complete = Array.isArray(body.output) || body.object === "response";
  },
};

/** The members of the response object that its last event must repeat. */
const BEGUN: ReadonlySet<string> = new Set(["id", "created_at", "model"]);

type EventReader = (event: JsonObject, seen: StreamSummary) => void;

const READERS: ReadonlyMap<Json | undefined, EventReader> = new Map<Json | undefined, EventReader>([
  [
    "response.created",
    ({ response }, seen) => {
      if (!isObject(response)) return;
      noteAnswer(response, seen);
      seen.begun ??= Object.fromEntries(Object.entries(response).filter(([name]) => BEGUN.has(name)));
    },
  ],
  ["response.completed", (event, seen) => readTerminal(event, "completed", seen)],
  ["response.incomplete", (event, seen) => readTerminal(event, "incomplete", seen)],
  ["response.failed", readFailure],
  ["response.cancelled", readFailure],
]);

function readTerminal({ response }: JsonObject, status: string, seen: StreamSummary): void {
  if (isObject(response)) noteEnd(response, status, seen);
  seen.terminated = seen.complete = seen.finished = true;
}

/** The client gets the event; weir counts the call as failed. */
function readFailure(event: JsonObject, seen: StreamSummary): void {
  noteUsage(isObject(event.response) ? event.response : {}, seen);
  seen.error ??= failureOf(event);
}

/** The first id counts: some hosts send another one with each event. */
function noteAnswer({ id, store }: JsonObject, seen: StreamSummary): void {
  if (typeof id === "string" && id !== "") seen.answerId ??= id;
  if (typeof store === "boolean") seen.isStored ??= store;
}

function noteEnd(response: JsonObject, status: string | undefined, seen: StreamSummary): void {
  noteUsage(response, seen);
  const items = list(response.output).filter(isObject);
  seen.finish = decodeStatus(
    { ...response, status: status ?? null },
    { toolCalls: items.filter(isCall).length, hasRefused: items.some(hasRefusal) },
  );
}

function noteUsage(response: JsonObject, seen: StreamSummary): void {
  const usage = decodeUsage(response);
  if (usage) seen.usage = mergeUsage(seen.usage ?? NO_USAGE, usage);
}

function isCall({ type }: JsonObject): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function hasRefusal({ content }: JsonObject): boolean {
  return list(content).some((part) => isObject(part) && part.type === "refusal");
}
