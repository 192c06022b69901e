/** What a guard asks, made of its options. */
import type { NamedGuard } from "../section.ts";
import { Asked, type AskedOptions } from "./asked.ts";
import type { Asker } from "./asker.ts";
import { type AskingOptions, timeoutMs } from "./section.ts";
import { type Service, Webhook } from "./webhook.ts";

type WebhookOption = NonNullable<AskingOptions["webhook"]>;

/** @returns undefined: the guard asks nothing */
export function askedOf(guard: NamedGuard, fault: AskedOptions["fault"]): Asked | undefined {
  const webhooks = webhooksOf(guard);
  const askers: Asker[] = webhooks.map((one) => new Webhook(serviceOf(one)));
  if (askers.length === 0) return undefined;
  const { name, timeout, onError = "block" } = guard;
  const forward = webhooks.flatMap((one) => (typeof one === "string" ? [] : (one.forward ?? [])));
  return new Asked(askers, {
    ...{ name, timeoutMs: timeoutMs(timeout), passes: onError === "pass", fault },
    forward: [...new Set(forward.map((header) => header.toLowerCase()))],
  });
}

function webhooksOf({ webhook, find = [] }: NamedGuard): WebhookOption[] {
  const found = find.flatMap((one) => (typeof one === "object" && "webhook" in one ? [one.webhook] : []));
  return webhook === undefined ? found : [webhook, ...found];
}

function serviceOf(webhook: WebhookOption): Service {
  if (typeof webhook === "string") return { url: webhook, headers: {}, images: false, holds: false };
  const { url, secret, headers = {}, images = false, holds = false } = webhook;
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
  return {
    ...{ url, images, holds, headers: Object.fromEntries(sent) as Record<string, string> },
    ...(secret && { secret: secret.reveal() }),
  };
}
