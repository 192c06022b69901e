/** `weir alerts list|test`: what the operations answer, as tables. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { showTime } from "../../cli/books/show.ts";
import { countOf } from "../../cli/books/values.ts";
import type { Command } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";
import type { AlertsView, SentAlert, TestSent, Webhook } from "./contracts.ts";
import { endWords } from "./words.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<number | void>): Run => ({
  run: (context) => runConnected(context, run),
});

export const list = command(async ({ api, flags, show }) => {
  const limit = countOf(flags, "--last") ?? 20;
  const view = await api.send<AlertsView>("GET", `/alerts?limit=${limit}`);
  show(view, () => [webhooksText(view.webhooks), alertsText(view.alerts)].join("\n\n"));
});

export const test = command(async ({ api, words: [webhook], show }) => {
  const answer = await api.send<TestSent>("POST", "/alerts/test", {
    body: { ...(webhook !== undefined && { webhook }) },
  });
  show(answer, () => {
    const rows = answer.sent.map(({ webhook: id, to, delivered, reason = "" }) => [
      ...[id, to, delivered ? "delivered" : `failed: ${reason}`],
    ]);
    return table([["WEBHOOK", "TO", "RESULT"], ...rows]);
  });
  return answer.sent.every(({ delivered }) => delivered) ? 0 : 1;
});

function webhooksText(webhooks: readonly Webhook[] | undefined): string {
  if (webhooks === undefined) return "no gateway runs: its webhooks are in the config";
  if (webhooks.length === 0) return "the config has no webhook";
  const rows = webhooks.map(({ id, to, events, last }) => [
    ...[id, to, events.join(" ")],
    last
      ? `${showTime(last.at)} ${last.result}${last.reason === undefined ? "" : `: ${last.reason}`}`
      : "never",
  ]);
  return table([["WEBHOOK", "TO", "EVENTS", "LAST DELIVERY (UTC)"], ...rows]);
}

function alertsText(alerts: readonly SentAlert[]): string {
  if (alerts.length === 0) return "no alert was sent";
  const rows = alerts.map((alert) => [
    ...[showTime(alert.at), alert.event, alert.message, endWords(alert)],
    alert.deliveries.map(({ result, reason }) => (reason ? `${result}: ${reason}` : result)).join("; "),
  ]);
  return table([["TIME (UTC)", "EVENT", "ALERT", "NOW", "DELIVERY"], ...rows]);
}
