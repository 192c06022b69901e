/** What an answer means for its line, and for those behind it. */
import type { BatchUsage } from "../batch.ts";
import type { LineAnswer } from "./line-call.ts";
import type { Shown } from "./slots.ts";

/** Waits between two tries of a line; the last one counts for all further ones. Milliseconds. */
const BACKOFF_MS = [500, 2_000, 8_000, 30_000] as const;

/** Errors that may pass: RFC 9110 and the statuses of vendors for overload. */
export function mayPass({ status }: LineAnswer): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** What the answer shows of its provider and its key. */
export function shownOf(answer: LineAnswer | undefined): Shown | undefined {
  if (!answer) return undefined;
  const { target } = answer;
  const retryAfter = retryAfterOf(answer);
  return { ...(isBusy(answer) && { busy: answer.refused ? "key" : "provider" }), retryAfter, target };
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
  return Math.max(retryAfterOf(answer), backoff * (0.5 + Math.random()));
}

/** Milliseconds that a provider asked for. */
function retryAfterOf(answer: LineAnswer): number {
  const seconds = Number(answer.headers.get("retry-after"));
  return Number.isFinite(seconds) ? Math.min(seconds, 3_600) * 1_000 : 0;
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
