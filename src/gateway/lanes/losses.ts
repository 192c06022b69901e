/**
 * The losses of a request besides those that codecs report: members that no codec reads, and what a provider reports that is a
 * weir itself. In strict mode weir refuses a request with losses, with a 400 that names them, in every lane.
 */
import type { Attempt, Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { readLosses, WARNINGS, writeLosses } from "../../core/loss-list.ts";
import type { Gateway, Incoming } from "../types.ts";
import { discard } from "./read-answer.ts";
import type { UpstreamResponse } from "./transport.ts";
import type { LossCode } from "../../core/loss.ts";

/** Whether a call is strict: by the config for all calls, or by the client's `x-weir-strict` for this one. */
export function isStrict(call: Call, { strict }: Pick<Gateway, "strict">): boolean {
  return strict || call.headers.get("x-weir-strict") === "true";
}

/** @throws GatewayError `invalid-request` (`lossy_translation`) in strict mode if the attempt has losses */
export function refuseLosses(attempt: Attempt, gateway: Pick<Gateway, "strict">): void {
  const { call, target, losses } = attempt;
  const [first] = losses;
  if (!first || !isStrict(call, gateway)) return;
  throw new GatewayError(
    "invalid-request",
    `Strict mode: the provider ${target.provider.name} cannot receive this request without losses (${writeLosses(losses)}).`,
    { code: "lossy_translation", param: first.path },
  );
}

/** Returns nothing where nothing is reported, which costs no turn. @throws GatewayError in strict mode, as for losses of this weir */
export function adoptReported(
  response: UpstreamResponse,
  attempt: Attempt,
  gateway: Pick<Gateway, "strict">,
): Promise<void> | undefined {
  const reported = response.headers.get(WARNINGS);
  return reported ? adoptLosses(response, reported, attempt, gateway) : undefined;
}

async function adoptLosses(
  response: UpstreamResponse,
  reported: string,
  attempt: Attempt,
  gateway: Pick<Gateway, "strict">,
): Promise<void> {
  for (const { code, path } of readLosses(reported))
    attempt.reportLoss(code, path, `reported by ${attempt.target.provider.name}`);
  try {
    refuseLosses(attempt, gateway);
  } catch (error) {
    await discard(response);
    throw error;
  }
}

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
  let parts: ReadonlySet<string> | undefined;
  const seen = new Set<string>();
  for (const { loss, path } of members) {
    parts ??= wholePartsOf(attempt);
    const member = path.replace(/\[\d+\]/g, "[]");
    if (seen.has(member) || isWithin(path, parts)) continue;
    seen.add(member);
    attempt.reportLoss(loss, path, NOTES[loss]);
    if (seen.size === MOST) return;
  }
}

/** The paths of the parts that were reported as a whole, before the first member of them is. */
function wholePartsOf({ losses }: Attempt): ReadonlySet<string> {
  return new Set(losses.filter(({ code }) => WHOLE.has(code)).map(({ path }) => path));
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
