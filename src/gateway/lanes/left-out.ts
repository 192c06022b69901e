/** Reports the members of a request that no codec reads, after those whose loss the codecs report by themselves. */
import type { Attempt } from "../../core/call.ts";
import type { LossCode } from "../../core/loss.ts";
import type { Incoming } from "../types.ts";

/** What became of a member, for the loss. */
export const NOTES = {
  unknown: "weir does not know this member, and the provider does not get it",
  dropped: "the provider has no equivalent field",
} as const;

/** Losses that concern a whole part of a request, with all that is in it. */
const WHOLE: ReadonlySet<LossCode> = new Set(["dropped", "converted"]);

/**
 * Reports each member once, at its first place: clients write the same member into every message. The body is the client's
 * own, without the stored items that it continues.
 */
export function reportLeftOut({ format, body }: Incoming, attempt: Attempt): void {
  const members = format.client.leftOut?.(body, attempt.context.sameFormat) ?? [];
  const parts = attempt.losses.filter(({ code }) => WHOLE.has(code)).map(({ path }) => path);
  const seen = new Set<string>();
  for (const { loss, path } of members) {
    const member = path.replace(/\[\d+\]/g, "[]");
    if (seen.has(member) || parts.some((part) => isWithin(path, part))) continue;
    seen.add(member);
    attempt.reportLoss(loss, path, NOTES[loss]);
  }
}

/** Whether a path is that of a reported part or lies in it. A loss of a whole list concerns only some of its parts. */
function isWithin(path: string, part: string): boolean {
  if (path === part) return true;
  return part.includes("[") && path.startsWith(part) && /^[.[]/.test(path.slice(part.length));
}
