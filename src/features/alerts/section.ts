/** The section of the config: webhooks, and what each of them gets. */
import { webhookFault } from "../../config/address.ts";
import { type Fault, faultAt } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { CLOSED, oneOf, secret } from "../../config/sections/kinds.ts";
import { type Static, Type } from "@sinclair/typebox";

/** Subjects of alerts. */
export const ALERT_EVENTS = [
  "budget",
  "breaker",
  "credential",
  "errors",
  "store",
  "guard",
  "secret",
  "witness",
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** A receiver. Plain JSON: workers send it to the keeper. */
export interface AlertTarget {
  url: string;
  /** Signs the requests. */
  secret?: string;
  events: readonly AlertEvent[];
  format: "json" | "slack";
  /** Share of failed calls, 0 to 1, from which on calls count as failing. */
  errorShare: number;
}

/** Value of `errorShare` where an alert has none. */
const ERROR_SHARE = 0.2;

const alertOptions = Type.Object(
  {
    to: secret("URL that gets a POST with the alert."),
    secret: Type.Optional(
      secret("Signs the requests by the rules of Standard Webhooks: `whsec_` and base64, or any text."),
    ),
    events: Type.Optional(
      Type.Array(oneOf(ALERT_EVENTS, {}), {
        minItems: 1,
        "x-expects": `a list of ${ALERT_EVENTS.join(", ")}`,
        description: "What it gets. Default: all.",
      }),
    ),
    format: Type.Optional(
      oneOf(["json", "slack"], {
        description: "`slack`: a message for Slack and its likes. Default: `json`.",
      }),
    ),
    errorShare: Type.Optional(
      Type.Number({
        minimum: 0.001,
        maximum: 1,
        description: `Share of failed calls in five minutes with at least 20 calls. Default: ${ERROR_SHARE}.`,
      }),
    ),
  },
  CLOSED,
);

type AlertOptions = Static<typeof alertOptions>;

export const alertsSection = section(
  "alerts",
  Type.Array(alertOptions, {
    default: [],
    examples: [
      [{ to: "https://hooks.example.com/weir", secret: "${WEIR_ALERT_SECRET}", events: ["budget"] }],
    ],
    description:
      "Webhooks, each a group of `to`, `secret`, `events`, `format` and `errorShare`. weir tells when a budget reaches a percentage of its limit (`budget`), when a deployment fails (`breaker`) or refuses weir's credential (`credential`), when many calls fail (`errors`), when the store cannot be used (`store`), when a guard does not do its work (`guard`), when a secret cannot be read again (`secret`), when a look finds that a provider has changed (`witness`), and when these end. A request that fails is repeated for half an hour.",
  }),
  { after: ["traces", "metrics"], faults: alertFaults },
);

/** The receivers of a config. The secrets are revealed: the link to the keeper is private, and the keeper does not store them. */
export function targetsOf(config: object): AlertTarget[] {
  return alertsSection.of(config).map(targetOf);
}

/** The line of the start table, if there are receivers: their origins, because the paths may contain credentials. */
export function startLinesOf(config: object): string[] {
  const origins = new Set(alertsSection.of(config).map(({ to }) => new URL(to.reveal()).origin));
  return origins.size === 0 ? [] : [`alerts: to ${[...origins].join(", ")}`];
}

function targetOf({ to, secret, events, format, errorShare }: AlertOptions): AlertTarget {
  return {
    url: to.reveal(),
    ...(secret && { secret: secret.reveal() }),
    events: events ?? ALERT_EVENTS,
    format: format ?? "json",
    errorShare: errorShare ?? ERROR_SHARE,
  };
}

function alertFaults(written: unknown): Fault[] {
  return (written as readonly { to?: string }[]).flatMap(({ to = "" }, index) => {
    const clause = webhookFault(to);
    return faultAt(["alerts", index, "to"], clause && `to ${clause}`);
  });
}
