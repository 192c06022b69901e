/** Reports the members of a request that no codec reads, after those whose loss the codecs report by themselves. */
import type { Attempt } from "../../core/call.ts";
import type { LossCode } from "../../core/loss.ts";
import type { Incoming } from "../types.ts";

/** The fate of a member, for the loss. */
export const NOTES = {
  unknown: "weir does not know this member, and the provider does not get it",
  dropped: "the provider has no equivalent field",
} as const;

/** Losses that concern a whole part of a request, with all that is in it. */
const WHOLE: ReadonlySet<LossCode> = new Set(["dropped", "converted"]);

/** Most members that are reported; a hostile body has any number of unknown names. */
const MOST = 500;

/**
 * Reports each member once, at its first place: clients write the same member into every message. The body is the client's
 * own, without the stored items that it continues.
 */
export function reportLeftOut({ format, body }: Incoming, attempt: Attempt): void {
  const members = format.client.codec.leftOut?.(body, attempt.context.sameFormat) ?? [];
  const parts = new Set(attempt.losses.filter(({ code }) => WHOLE.has(code)).map(({ path }) => path));
  const seen = new Set<string>();
  for (const { loss, path } of members) {
    const member = path.replace(/\[\d+\]/g, "[]");
    if (seen.has(member) || isWithin(path, parts)) continue;
    seen.add(member);
    attempt.reportLoss(loss, path, NOTES[loss]);
    if (seen.size === MOST) return;
  }
}

/** Whether a path is that of a reported part or lies in one. A loss of a whole list concerns only some of its parts. */
function isWithin(path: string, parts: ReadonlySet<string>): boolean {
  if (parts.has(path)) return true;
  for (const { index } of path.matchAll(/[.[]/g)) {
    const part = path.slice(0, index);
    if (part.includes("[") && parts.has(part)) return true;
  }
  return false;
}
