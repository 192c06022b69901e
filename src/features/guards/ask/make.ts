/** What a guard asks, made of its options. */
import type { NamedGuard } from "../section.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { Asked } from "./asked.ts";
import { Bedrock } from "./bedrock.ts";
import { FormWebhook } from "./forms/form.ts";
import { FORM_OF } from "./forms/index.ts";
import { ModelJudge } from "./model.ts";
import { Moderate } from "./moderate.ts";
import { PluginJudge } from "./plugin.ts";
import { Presidio } from "./presidio.ts";
import type { Asker } from "./asker.ts";
import { type AskingOptions, timeoutMs } from "./section.ts";
import { type Service, Webhook } from "./webhook.ts";

type WebhookOption = NonNullable<AskingOptions["webhook"]>;

/** What askers use of the process that serves calls. */
export type AskHost = Pick<WorkerHost, "fault" | "work">;

/** @returns undefined: the guard asks nothing */
export function askedOf(guard: NamedGuard, { fault, work }: AskHost): Asked | undefined {
  const webhooks = webhooksOf(guard);
  const { name, timeout, onError = "block", presidio, moderate, model, bedrock, plugin } = guard;
  const ms = timeoutMs(timeout);
  const askers: Asker[] = [
    ...webhooks.map(webhookOf),
    ...(presidio === undefined ? [] : [new Presidio(presidioOf(presidio, guard))]),
    ...(moderate ? [new Moderate({ images: true, ...moderate }, ms, work)] : []),
    ...(model ? [new ModelJudge(model, ms, work)] : []),
    ...(plugin === undefined ? [] : [new PluginJudge(plugin)]),
    ...(bedrock ? [new Bedrock({ version: "DRAFT", ...bedrock }, process.env)] : []),
  ];
  if (askers.length === 0) return undefined;
  const forward = webhooks.flatMap((one) => (typeof one === "string" ? [] : (one.forward ?? [])));
  return new Asked(askers, {
    ...{ name, timeoutMs: ms, passes: onError === "pass", fault },
    forward: [...new Set(forward.map((header) => header.toLowerCase()))],
  });
}

function webhookOf(webhook: WebhookOption): Asker {
  const service = serviceOf(webhook);
  const form = typeof webhook === "string" ? undefined : webhook.form;
  return form === undefined || form === "weir"
    ? new Webhook(service)
    : new FormWebhook(service, FORM_OF[form]);
}

function presidioOf(url: string, { entities, language = "en", over }: NamedGuard) {
  return { url, language, ...(entities && { entities }), ...(over !== undefined && { over }) };
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
