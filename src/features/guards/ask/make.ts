/** What a guard asks, made of its options. */
import { type AskingOptions, timeoutMs } from "./section.ts";
import type { NamedGuard } from "../section.ts";
import type { Asker } from "./asker.ts";
import { Asked, type AskedOptions } from "./asked.ts";
import { Webhook } from "./webhook.ts";

/** @returns undefined: the guard asks nothing */
export function askedOf(guard: NamedGuard, fault: AskedOptions["fault"]): Asked | undefined {
  const inFind = (guard.find ?? []).flatMap((one) =>
    typeof one === "object" && "webhook" in one ? [one.webhook] : [],
  );
  const askers: Asker[] = [...(guard.webhook === undefined ? [] : [guard.webhook]), ...inFind].map(
    (one) => new Webhook(webhookOf(one)),
  );
  if (askers.length === 0) return undefined;
  const { name, timeout, onError = "block" } = guard;
  return new Asked(askers, { name, timeoutMs: timeoutMs(timeout), passes: onError === "pass", fault });
}

function webhookOf(webhook: NonNullable<AskingOptions["webhook"]>) {
  return typeof webhook === "string" ? { url: webhook } : webhook;
}
