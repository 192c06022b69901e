/** The log: one line for each call, as JSON for programs or as text for people. It never contains prompts or keys. */
import type { Attempt, Call } from "../core/call.ts";
import type { Columns } from "../core/column.ts";
import { limitText, printable, recordedName } from "../core/printable.ts";
import { NO_USAGE, usageState } from "../core/events.ts";
import { describeThrown } from "../core/error-text.ts";
import { writeTried } from "../gateway/delivery/response-headers.ts";
import { endsWithin } from "../core/within.ts";

export type LogLevel = "info" | "warn" | "error" | "silent";

export interface LogOptions {
  format: "json" | "pretty";
  level: LogLevel;
  /** Number of the worker process, if there are several. */
  worker?: number;
  /** Absent where no calls are logged. */
  columns?: Columns;
  /** Masks secrets in all that is written. */
  hide?(text: string): string;
  write: WriteLog;
}

const RANK: Record<LogLevel, number> = { info: 0, warn: 1, error: 2, silent: 3 };

export interface Logger {
  call(call: Call): void;
  /** An event that is not a call. */
  info(message: string, facts: Record<string, string>): void;
  /** A failure of weir or a plugin that is not the failure of a call. */
  fault(message: string, cause?: unknown): void;
  /** Writes the buffer, and waits until the reader has accepted it. @param ms longest wait */
  flush(ms?: number): Promise<void>;
}

/** Clients and providers choose parts of a line, so all control characters are escaped: a terminal would act on them. */
export function createLogger(options: LogOptions): Logger {
  const { format, worker, columns } = options;
  const write = (fields: Record<string, unknown>, pretty: string) => {
    if (format === "json")
      return printable(JSON.stringify(worker === undefined ? fields : { ...fields, worker }));
    return worker === undefined ? pretty : `[${worker}] ${pretty}`;
  };
  const fault = (message: string, facts: Record<string, unknown>, detail = "") =>
    write(
      { time: new Date().toISOString(), level: "error", message, ...facts },
      `${clockTime()} error ${printable(message)}${indent(detail)}`,
    );
  const buffer = new LogBuffer({
    write: options.write,
    hide: options.hide ?? ((text) => text),
    writeDropped: (dropped) =>
      fault(`${dropped} log lines were dropped, because the reader of the log is too slow`, { dropped }),
  });
  const put = (level: Exclude<LogLevel, "silent">, line: () => string) => {
    if (RANK[level] >= RANK[options.level]) buffer.add(line());
  };
  return {
    call(call) {
      const level = call.outcome === "failed" ? (call.error?.kind === "internal" ? "error" : "warn") : "info";
      put(level, () =>
        write(
          callFields(call, level, columns),
          format === "pretty" ? printable(recordedName(callLine(call, columns))) : "",
        ),
      );
    },
    info(message, facts) {
      const pretty = Object.entries(facts).map(([name, value]) => `  ${name} ${value}`);
      put("info", () =>
        write(
          { time: new Date().toISOString(), level: "info", message, ...facts },
          `${clockTime()} ${printable(message + pretty.join(""))}`,
        ),
      );
    },
    fault(message, cause) {
      const detail = cause === undefined ? undefined : describeThrown(cause);
      put("error", () => fault(message, { detail }, detail));
    },
    flush: (ms) => buffer.flush(ms),
  };
}

/** Indents the lines of a stack, so that none of them looks like a line of the log. */
function indent(detail: string): string {
  if (detail === "") return "";
  return detail
    .split("\n")
    .map((line) => `\n    ${printable(line)}`)
    .join("");
}

/** Limit of values that a provider chose. Bytes. */
const MAX_PROVIDER_BYTES = 256;

/** `tokens`: as the provider counted them, in disjoint counts. `estimated`: what the client received instead. */
function callFields(call: Call, level: string, columns: Columns | undefined): Record<string, unknown> {
  const { attempt } = call;
  const { usage = NO_USAGE, finish, losses = [], upstreamRequestId } = attempt ?? {};
  const target = attempt?.target;
  return {
    time: isoTime(),
    level,
    id: call.id,
    parent: call.parent?.id,
    key: call.key,
    format: call.format,
    model: recordedName(call.model),
    routed_model: call.servingModel === call.model ? undefined : recordedName(call.servingModel),
    provider: target?.provider.name,
    upstream_model: target && recordedName(target.model),
    lane: attempt?.lane,
    stream: call.stream,
    status: call.status,
    outcome: call.outcome,
    finish: finish && limitText(finish, MAX_PROVIDER_BYTES),
    ms: since(call, call.endedAt),
    head_ms: since(call, attempt?.headAt),
    first_ms: since(call, attempt?.firstByteAt),
    tokens: usage.known === undefined ? { ...usage, known: usageState(usage) } : usage,
    estimated: attempt?.estimated,
    losses: losses.length > 0 ? losses : undefined,
    upstream_status: attempt?.upstreamStatus,
    upstream_id: upstreamRequestId && limitText(upstreamRequestId, MAX_PROVIDER_BYTES),
    skipped: call.skipped.length > 0 ? call.skipped : undefined,
    attempts: call.attempts.some(({ failure }) => failure) ? call.attempts.map(attemptFields) : undefined,
    may_cost_twice: mayCostTwice(call.attempts) || undefined,
    ...columns?.logged(call),
    error: call.error && { ...call.error, message: recordedName(call.error.message) },
  };
}

/** Whether a provider may have charged for an attempt before the last one. */
function mayCostTwice(attempts: readonly Attempt[]): boolean {
  return attempts.some(({ failure }, at) => failure?.class === "no-bytes" && at < attempts.length - 1);
}

/** `tokens`: what is known of the tokens of a failed attempt, which may cost something too. */
function attemptFields(attempt: Attempt): Record<string, unknown> {
  const { target, waited, failure, usage, said, upstreamStatus, upstreamRequestId: id } = attempt;
  return {
    provider: target.provider.name,
    deployment: target.deployment.name,
    model: recordedName(target.model),
    class: failure?.class ?? "answered",
    what: failure?.what,
    status: failure && upstreamStatus,
    code: failure && said?.code,
    message: failure && said?.message,
    retry_after: failure && said?.retryAfter,
    upstream_id: failure && id && limitText(id, MAX_PROVIDER_BYTES),
    ms: failure?.ms,
    wait_ms: waited > 0 ? Math.round(waited) : undefined,
    tokens: failure && usageState(usage) !== "absent" ? usage : undefined,
  };
}

let lastMs = 0;
let lastIso = "";

/** Cached: calls of the same millisecond share the text. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastIso = new Date(now).toISOString();
  }
  return lastIso;
}

function callLine(call: Call, columns: Columns | undefined): string {
  const { attempt } = call;
  const target = attempt?.target;
  const losses = attempt?.losses ?? [];
  const parts = [
    clockTime(),
    String(call.status),
    call.outcome,
    `${since(call, call.endedAt)}ms`,
    attempt?.firstByteAt === undefined ? undefined : `first ${since(call, attempt.firstByteAt)}ms`,
    call.format,
    target ? `${call.model} → ${target.provider.name}/${target.model} (${attempt!.lane})` : call.model || "-",
    tokensOf(attempt),
    call.servingModel !== call.model && `routed to ${call.servingModel}`,
    call.parent && `asked by ${call.parent.id}`,
    call.key && `key ${call.key}`,
    ...(columns?.lines(call) ?? []),
    call.skipped.length > 0 && `skipped ${call.skipped.join(", ")}`,
    call.attempts.some(({ failure }) => failure) && `tried ${writeTried(call.attempts)}`,
    call.error && `${call.error.kind}: ${call.error.message}`,
    losses.length > 0 && `losses ${losses.map((loss) => `${loss.code}:${loss.path}`).join(" ")}`,
    call.id,
  ];
  return parts.filter(Boolean).join("  ");
}

function tokensOf(attempt: Attempt | undefined): string {
  const { usage = NO_USAGE, estimated } = attempt ?? {};
  const { input, cacheRead, cacheWrite, output } = usage;
  if (estimated) return `about ${estimated.input} in, ${estimated.output} out (estimated)`;
  return `${input + cacheRead + cacheWrite} in, ${output} out`;
}

function since(call: Call, at: number | undefined): number | undefined {
  return at === undefined ? undefined : Math.round((at - call.startedAt) * 10) / 10;
}

function clockTime(): string {
  return new Date().toTimeString().slice(0, 8);
}

/** Writes text; a promise resolves when the reader has accepted it, with the text for which there was no room. */
export type WriteLog = (text: string) => Promise<string | void> | void;

/** Size of the buffer, in characters. weir drops and counts lines beyond it. */
const MAX_HELD = 1 << 20;
/** Time between two writes: a write for each call would cost more than the rest of its log line. */
const BATCH_MS = 20;
/** Longest wait for the reader when weir stops. */
const FLUSH_MS = 100;
/** Time until text is written again for which there was no room. */
const ROOM_MS = 1_000;

export interface LogBufferOptions {
  write: WriteLog;
  /** Masks secrets in all that is written. */
  hide(text: string): string;
  /** The line that reports dropped lines. */
  writeDropped(count: number): string;
}

/** A bounded buffer between the log and its reader: collects lines and writes them in batches. */
export class LogBuffer {
  readonly #options: LogBufferOptions;
  #lines = "";
  #dropped = 0;
  /** The last text found no room on the disk. */
  #isFull = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The text that the reader has not accepted yet. */
  #writing: Promise<void> | undefined;

  constructor(options: LogBufferOptions) {
    this.#options = options;
  }

  /** @param line without its newline */
  add(line: string): void {
    if (this.#lines.length + line.length > MAX_HELD) {
      this.#dropped++;
      return;
    }
    this.#lines += `${line}\n`;
    this.#timer ??= setTimeout(() => this.#write(), this.#isFull ? ROOM_MS : BATCH_MS);
  }

  /** Writes the buffer, and waits until the reader has accepted it. @param ms longest wait */
  async flush(ms = FLUSH_MS): Promise<void> {
    this.#write();
    const written = async () => {
      while (this.#writing) await this.#writing;
    };
    await endsWithin(written(), ms);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    if (this.#dropped > 0 && !this.#isFull) this.#reportDropped();
    if (this.#lines === "") return;
    const text = this.#options.hide(this.#lines);
    this.#lines = "";
    this.#writing = this.#options.write(text)?.then((rest) => {
      this.#writing = undefined;
      this.#isFull = rest !== undefined && rest !== "";
      if (!this.#isFull) return this.#dropped > 0 || this.#lines !== "" ? this.#write() : undefined;
      // What came meanwhile is newer, and is dropped first.
      this.#lines = rest + this.#lines;
      this.#timer ??= setTimeout(() => this.#write(), ROOM_MS);
    });
  }

  #reportDropped(): void {
    this.#lines += `${this.#options.writeDropped(this.#dropped)}\n`;
    this.#dropped = 0;
  }
}
