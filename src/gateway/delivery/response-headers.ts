/** The `x-weir-*` response headers. */
import type { Attempt, Call } from "../../core/call.ts";
import { writeLosses } from "../../core/loss-list.ts";

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** The headers of an answer, from what is known before its first byte. */
export function answerHeaders(call: Call): Record<string, string> {
  const { attempt, attempts, skipped } = call;
  const target = attempt?.target;
  return {
    ...(target && {
      "x-weir-provider": target.provider.name,
      ...(target.deployment.name !== target.provider.name && { "x-weir-deployment": target.deployment.name }),
      "x-weir-model": printable(target.model),
      "x-weir-lane": target.lane,
    }),
    ...(skipped.length > 0 && { "x-weir-skipped": skipped.join(", ") }),
    ...(attempts.some(({ failure }) => failure) && {
      "x-weir-attempts": String(attempts.length),
      "x-weir-tried": writeTried(attempts),
    }),
    ...call.extraHeaders,
    ...(attempt && attempt.losses.length > 0 && { "x-weir-warnings": writeLosses(attempt.losses) }),
  };
}

/** The attempts that failed: `openai/eu:503:120ms, groq:refused:3ms`. */
export function writeTried(attempts: readonly Attempt[]): string {
  return attempts
    .flatMap(({ target, failure }) =>
      failure ? [`${target.deployment.name}:${failure.what}:${failure.ms}ms`] : [],
    )
    .join(", ");
}

/** Header values must be visible ASCII; model names may contain any character. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
