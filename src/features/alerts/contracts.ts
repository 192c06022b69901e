/** Webhooks and alerts in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, request, time, words } from "../../operator/shapes.ts";
import { DELIVERY_RESULTS } from "./rows.ts";
import { ALERT_EVENTS } from "./section.ts";

const EVENT = words([...ALERT_EVENTS, "test"]);
const WEBHOOK = Type.String({ description: "Id of a webhook, from a hash of its address." });
const REASON = Type.Optional(Type.String({ description: "Why it was not delivered: a clause." }));

const LastDelivery = answer({
  alert: Type.String(),
  event: EVENT,
  at: time("When it was tried."),
  result: words(DELIVERY_RESULTS),
  reason: REASON,
});

export const Webhook = answer({
  id: WEBHOOK,
  to: Type.String({ description: "Origin of the address. The rest may be a credential: `…`." }),
  events: Type.Array(words(ALERT_EVENTS)),
  format: words(["json", "slack"]),
  signed: Type.Boolean(),
  errorShare: Type.Number({ description: "Share of failed calls, 0 to 1, of the event `errors`." }),
  last: Type.Optional(LastDelivery),
});
export type Webhook = Static<typeof Webhook>;

export const SentAlert = answer({
  id: Type.String(),
  event: EVENT,
  state: words(["reached", "begins", "ends"]),
  at: time(""),
  subject: Type.String(),
  message: Type.String(),
  node: Type.String({ description: "Name of the machine that sent it." }),
  endedAt: Type.Optional(
    time("Of `begins`: when it was over. 0: weir has started anew since, and does not know."),
  ),
  deliveries: Type.Array(
    answer({
      webhook: WEBHOOK,
      to: Type.String(),
      result: words(DELIVERY_RESULTS, "`waiting`: weir tries (again)."),
      reason: REASON,
      tries: Type.Integer(),
      at: time("When it was tried last."),
    }),
  ),
});
export type SentAlert = Static<typeof SentAlert>;

export const AlertsView = answer({
  webhooks: Type.Optional(
    Type.Array(Webhook, { description: "Of the config of this node. Absent: no gateway runs." }),
  ),
  alerts: Type.Array(SentAlert, { description: "Of all nodes, the newest first." }),
});
export type AlertsView = Static<typeof AlertsView>;

export const TestSent = answer({
  alert: Type.String({ description: "Id of the test." }),
  sent: Type.Array(
    answer({ webhook: WEBHOOK, to: Type.String(), delivered: Type.Boolean(), reason: REASON }),
  ),
});
export type TestSent = Static<typeof TestSent>;

export const listAlerts = contract({
  method: "GET",
  path: "/admin/v1/alerts",
  id: "listAlerts",
  summary: "The webhooks of the config, and the last alerts with what became of them",
  needs: { role: "read", on: "gateway" },
  query: request({
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 20, description: "Most alerts." }),
  }),
  answer: { name: "AlertsView", schema: AlertsView },
});

export const testAlerts = contract({
  method: "POST",
  path: "/admin/v1/alerts/test",
  id: "testAlerts",
  summary: "Sends a test to webhooks, once, and answers what became of it",
  needs: { role: "admin", on: "gateway" },
  body: request({ webhook: Type.Optional(WEBHOOK) }),
  answer: { name: "TestSent", schema: TestSent },
  errors: ["not_found", "not_available", "gateway_failed"],
});
