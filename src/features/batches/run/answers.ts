/** What an answer means for its line, and for those behind it. */
import type { BatchUsage } from "../batch.ts";
import type { LineAnswer } from "./line-call.ts";
import type { Shown } from "./slots.ts";

/** Waits between two tries of a line; the last one counts for all further ones. Milliseconds. */
const BACKOFF_MS = [500, 2_000, 8_000, 30_000] as const;

/** Wait for a deployment whose concurrent calls are at their limit: it has room again when one of them ends. Milliseconds. */
const FULL_MS = 100;

/** Errors that may pass: RFC 9110 and the statuses of vendors for overload. */
export function mayPass({ status }: LineAnswer): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** What the answer shows of its provider and its key. */
export function shownOf(answer: LineAnswer | undefined): Shown | undefined {
  if (!answer) return undefined;
  const { target, room } = answer;
  const busy = isBusy(answer) ? (answer.refused ? "key" : "provider") : undefined;
  return { busy, retryAfter: retryAfterOf(answer), target, room };
}

function isBusy(answer: LineAnswer): boolean {
  return !isQuota(answer) && [408, 429, 503, 504, 529].includes(answer.status);
}

/** The answer says when the line is welcome: the line waits until then, however often. */
export function saysWhen(answer: LineAnswer): boolean {
  return isBusy(answer) && retryAfterOf(answer) > 0;
}

/** A budget of weir refuses the line. */
export function isQuota({ refused }: LineAnswer): boolean {
  return refused === "budget";
}

/** Weir ended the call because it stops. */
export function isCut({ status, body }: LineAnswer): boolean {
  return status === 503 && Buffer.from(body).includes("shutting_down");
}

/** Milliseconds. @param tries of the line before */
export function waitBehind(answer: LineAnswer, tries: number): number {
  const backoff = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)]!;
  return isFull(answer) ? 0 : Math.max(retryAfterOf(answer), backoff * (0.5 + Math.random()));
}

/** Milliseconds that a provider asked for. */
function retryAfterOf(answer: LineAnswer): number {
  if (isFull(answer)) return FULL_MS * (1 + Math.random());
  const seconds = Number(answer.headers.get("retry-after"));
  return Number.isFinite(seconds) ? Math.min(seconds, 3_600) * 1_000 : 0;
}

/** Weir has as many calls in flight there as the config permits. */
function isFull({ status, body }: LineAnswer): boolean {
  return status === 503 && Buffer.from(body).includes("no_capacity");
}

export function messageOf({ body }: LineAnswer): string | undefined {
  try {
    const { error } = JSON.parse(Buffer.from(body).toString()) as { error?: { message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

export function usageOf({ usage }: Pick<LineAnswer, "usage">): BatchUsage {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  return { input: input + cacheRead + cacheWrite, cached: cacheRead, output, reasoning };
}
