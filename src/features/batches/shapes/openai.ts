/** A batch as OpenAI's clients see it. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Nano } from "../../../ledger/money.ts";
import { type Batch, phase, type State } from "../batch.ts";
import { batchIdFor, fileIdFor } from "./ids.ts";

/** What a runner knows of a batch that is no part of it. */
export interface Live {
  /** Lines that run now, and lines that ran more than once. */
  readonly running: number;
  readonly retried: number;
  /** The provider whose own batch holds the lines. */
  readonly provider?: string;
}

const STATUS = {
  checking: "validating",
  waiting: "in_progress",
  running: "in_progress",
  closing: "finalizing",
  stopping: "cancelling",
  done: "completed",
  refused: "failed",
  stopped: "cancelled",
  late: "expired",
} as const satisfies Record<Exclude<State, "paused">, string>;

/** A paused batch looks as before, so that no client sees it go back. */
export function openaiBatch(batch: Batch, live?: Live) {
  const state = phase(batch);
  const at = (time: number | undefined) => (time === undefined ? null : Math.floor(time / 1000));
  const endedAs = (end: State) => (state === end ? at(batch.endedAt) : null);
  return {
    id: batchIdFor("openai", batch.id),
    object: "batch" as const,
    endpoint: batch.endpoint,
    ...(batch.model !== undefined && { model: batch.model }),
    errors: errorsOf(batch),
    input_file_id: fileIdFor("openai", batch.inputFile),
    completion_window: writeWindow(batch.window),
    status: STATUS[state],
    output_file_id: fileOf(batch.outputFile),
    error_file_id: fileOf(batch.errorFile),
    created_at: Math.floor(batch.createdAt / 1000),
    in_progress_at: at(batch.startedAt),
    expires_at: at(batch.deadline),
    finalizing_at: at(batch.closingAt),
    completed_at: endedAs("done"),
    failed_at: endedAs("refused"),
    expired_at: endedAs("late"),
    cancelling_at: at(batch.stoppingAt),
    cancelled_at: endedAs("stopped"),
    request_counts: countsOf(batch),
    ...(batch.startedAt !== undefined && { usage: usageOf(batch) }),
    metadata: Object.keys(batch.metadata).length > 0 ? { ...batch.metadata } : null,
    weir: weirOf(batch, live),
  };
}

/** @param batches the newest first @param hasMore whether older ones follow */
export function openaiList(batches: readonly Batch[], hasMore: boolean) {
  const data = batches.map((batch) => openaiBatch(batch));
  return {
    object: "list" as const,
    data,
    ...(data.length > 0 && { first_id: data[0]!.id, last_id: data.at(-1)!.id }),
    has_more: hasMore,
  };
}

function fileOf(id: string | undefined): string | null {
  return id === undefined ? null : fileIdFor("openai", id);
}

function errorsOf({ faults, state, reason }: Batch) {
  const refusal =
    state === "refused" && reason !== undefined ? [{ code: "batch_refused", message: reason }] : [];
  const all = faults.length > 0 ? faults : refusal;
  if (all.length === 0) return null;
  return {
    object: "list" as const,
    data: all.map(({ code, message, ...where }) => ({
      ...{ code, message },
      line: "line" in where ? (where.line ?? null) : null,
      param: "param" in where ? (where.param ?? null) : null,
    })),
  };
}

/** The error file has all lines without success, so they count as failed. While the input is checked, there are none. */
function countsOf({ state, lines, done, failed, cancelled, late }: Batch) {
  return { total: state === "checking" ? 0 : lines, completed: done, failed: failed + cancelled + late };
}

function usageOf({ usage: { input, cached, output, reasoning } }: Batch) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function weirOf({ how, held, cost, state, reason, losses }: Batch, live?: Live): JsonObject {
  return {
    how,
    held: writeDollars(held),
    cost: writeDollars(cost),
    ...(live && { lines: { running: live.running, retried: live.retried } }),
    provider: live?.provider ?? null,
    ...(losses && { losses: { ...losses } }),
    ...(state === "paused" && { paused: reason ?? true }),
  } satisfies Record<string, Json>;
}

/** Dollars as an exact decimal number: `0.00412`. */
export function writeDollars(nano: Nano): string {
  const digits = String(Math.abs(nano)).padStart(10, "0");
  const cents = digits.slice(-9).replace(/0+$/, "");
  return `${nano < 0 ? "-" : ""}${digits.slice(0, -9)}${cents && `.${cents}`}`;
}

/** Milliseconds as clients write a window: `24h`, `90m`, `2s`. */
export function writeWindow(ms: number): string {
  const [unit, length] = WINDOWS.find(([, one]) => ms % one === 0) ?? ["s", 1000];
  return `${Math.ceil(ms / length)}${unit}`;
}

const WINDOWS: readonly (readonly [unit: string, ms: number])[] = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
];
