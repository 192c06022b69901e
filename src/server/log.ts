/** The log: one line for each call, as JSON for programs or as text for people. It never contains prompts or keys. */
import type { Attempt, Call } from "../core/call.ts";
import type { Columns } from "../core/column.ts";
import { limitText, printable, recordedName } from "../core/printable.ts";
import { NO_USAGE, usageState } from "../core/events.ts";
import { describeThrown } from "../core/error-text.ts";
import { writeTried } from "../gateway/delivery/response-headers.ts";
import { LogBuffer, type WriteLog } from "./log-buffer.ts";

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
    routed_model: call.routedModel && recordedName(call.routedModel),
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
function attemptFields({ target, waited, failure, usage }: Attempt): Record<string, unknown> {
  return {
    provider: target.provider.name,
    deployment: target.deployment.name,
    model: recordedName(target.model),
    class: failure?.class ?? "answered",
    what: failure?.what,
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
    call.routedModel && `routed to ${call.routedModel}`,
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
