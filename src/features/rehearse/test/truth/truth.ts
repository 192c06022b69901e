/** What a change really alters: the same calls through the old and the new gateway, and what the provider got. */
import type { Cause } from "../../run/compare.ts";
import type { Seen } from "./observe.ts";
import type { Sent } from "./fake.ts";

/** Those that can be seen from outside. */
export const CAUSES = ["refused", "target", "body", "header", "price", "loss"] as const satisfies Cause[];
export type { Cause };

/**
 * What differs. A call that one side refuses differs in nothing else: there are no two requests to compare.
 * `target`: provider, deployment, model or address. `loss` alone alters nothing that the provider gets.
 */
export function differences(old: Seen, now: Seen): Set<Cause> {
  const causes = new Set<Cause>();
  if (old.refusal !== now.refusal) causes.add("refused");
  if (old.sent.length === 0 || now.sent.length === 0) {
    if (old.sent.length !== now.sent.length && causes.size === 0) causes.add("target");
    return causes;
  }
  if (targetsOf(old) !== targetsOf(now)) causes.add("target");
  if (bodiesOf(old.sent) !== bodiesOf(now.sent)) causes.add("body");
  if (headersOf(old.sent) !== headersOf(now.sent)) causes.add("header");
  if (old.price !== now.price) causes.add("price");
  if (old.losses !== now.losses) causes.add("loss");
  return causes;
}

/** Causes that the provider, the client or the bill notices. */
export const isAltered = (causes: ReadonlySet<Cause>): boolean =>
  [...causes].some((cause) => cause !== "loss");

function targetsOf({ target, sent }: Seen): string {
  // The lane changes no byte by itself, and one request may become several.
  return [target.slice(0, target.lastIndexOf(" ")), ...new Set(sent.map(({ url }) => url))].join("\n");
}

const bodiesOf = (sent: readonly Sent[]) => sent.map(({ body }) => body).join("\n");

/** Their order says nothing. */
const headersOf = (sent: readonly Sent[]) =>
  [...new Set(sent.map(({ headers }) => headers.toSorted().join("\n")))].join("\n\n");

/** The truth of one change: the differences of each call, by its index. */
export function truthOf(old: readonly Seen[], now: readonly Seen[]): Set<Cause>[] {
  if (old.length !== now.length) throw new Error(`${old.length} calls before and ${now.length} after`);
  return old.map((seen, index) => differences(seen, now[index]!));
}

/** How many calls have each cause, in the order of {@link CAUSES}. */
export function countsOf(truth: readonly ReadonlySet<Cause>[]): number[] {
  return CAUSES.map((cause) => truth.filter((causes) => causes.has(cause)).length);
}
