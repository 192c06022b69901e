/** What the answer to a line means for the line, and for those that follow. */
import type { Usage } from "../../../core/events.ts";
import type { LineAnswer } from "./line-call.ts";

/** Errors that may pass: RFC 9110 and the statuses of vendors for overload. */
export function mayPass({ status }: LineAnswer): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The provider has too much to do. */
export function isBusy(answer: LineAnswer | undefined): boolean {
  return answer !== undefined && !isQuota(answer) && [408, 429, 503, 504, 529].includes(answer.status);
}

/** A budget of weir refuses the line. */
export function isQuota({ refused }: LineAnswer): boolean {
  return refused === "budget";
}

/** Milliseconds that the provider asks for; 0: none. */
export function retryAfterOf(answer: LineAnswer | undefined): number {
  const seconds = Number(answer?.headers.get("retry-after"));
  return Number.isFinite(seconds) ? Math.min(seconds, 3_600) * 1_000 : 0;
}

/** The sentence of an error. */
export function messageOf({ body }: LineAnswer): string | undefined {
  try {
    const { error } = JSON.parse(Buffer.from(body).toString()) as { error?: { message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

/** All input tokens, what caches held included. */
export function inputOfUsage({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}
