/** Observes a JSON answer that the native lane passes through: token counts, finish reason, an error. */
import type { StreamObserver, StreamSummary } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { CUT_SHORT, outline } from "../../stream/outline/outline.ts";

/** Up to this length an answer is parsed at once: its outline would cost as much. Bytes. */
const MAX_PARSED = 1536;
/** Deeper answers are parsed. */
const MAX_DEPTH = 64;

/**
 * Most of an answer is text that the observer does not read, so it gets the outline, if the format allows that. The whole
 * answer is parsed if the outline shows an error, whose message it lacks, no complete answer, or a value that it cut.
 * @returns `undefined` if the bytes are not one JSON object
 */
export function observeAnswer(bytes: Uint8Array, watch: StreamObserver): StreamSummary | undefined {
  const short = watch.judgedByOutline && bytes.length > MAX_PARSED ? outlineOf(bytes) : undefined;
  const seen = short && observe(short, watch);
  if (seen && isWhole(seen)) return seen;
  const body = parseJson(decoder.decode(bytes));
  return isObject(body) ? observe(body, watch) : undefined;
}

const decoder = new TextDecoder();

function outlineOf(bytes: Uint8Array): JsonObject | undefined {
  const text = outline(bytes, MAX_DEPTH)?.text;
  const short = text === undefined ? undefined : parseJson(text);
  return isObject(short) ? short : undefined;
}

function observe(body: JsonObject, watch: StreamObserver): StreamSummary {
  const seen: StreamSummary = { terminated: false, complete: false };
  watch.answer(body, seen);
  return seen;
}

/** Whether the outline held everything that the observer read. */
function isWhole({ error, terminated, finish, usage }: StreamSummary): boolean {
  if (error || !terminated || finish?.raw === CUT_SHORT) return false;
  for (const name in usage) if (usage[name as keyof typeof usage] === CUT_SHORT) return false;
  return true;
}
