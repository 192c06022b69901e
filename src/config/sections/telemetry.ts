/** The sections `traces` and `alerts`. */
import { baseUrlFault } from "../address.ts";
import { type Fault, faultAt } from "../error.ts";
import { section } from "../section.ts";
import { type Static, Type } from "@sinclair/typebox";
import { ALERT_EVENTS } from "../../ledger/telemetry.ts";
import { CLOSED, headerFault, oneOf, secret } from "./kinds.ts";
import type { Secret } from "../../core/secret.ts";

/** Value of `errorShare` where an alert has none. */
export const ERROR_SHARE = 0.2;

export const traces = section(
  "traces",
  Type.Object(
    {
      to: Type.Optional(
        Type.String({
          description:
            "URL of an OpenTelemetry collector that takes OTLP over HTTP. weir adds `/v1/traces` unless the path ends with `/traces`. Absent: no traces.",
          examples: ["http://127.0.0.1:4318"],
          "x-env": "OTEL_EXPORTER_OTLP_ENDPOINT",
        }),
      ),
      headers: Type.Record(Type.String(), Type.Unsafe<Secret>(Type.String({ writeOnly: true })), {
        default: {},
        examples: [{ authorization: "Bearer ${COLLECTOR_TOKEN}" }],
        description: "Headers for the collector; in the variable `name=value`, with commas between them.",
        "x-env": "OTEL_EXPORTER_OTLP_HEADERS",
      }),
      share: Type.Number({
        minimum: 0,
        maximum: 1,
        default: 1,
        description: "Share of the traces that begin at weir and are recorded.",
      }),
      parent: oneOf(["respect", "ignore"], {
        default: "respect",
        description:
          "`respect`: a call with a valid header `traceparent` belongs to that trace, and is recorded if the client records it. `ignore`: every call begins a trace. The header never reaches a provider.",
      }),
      service: Type.String({
        default: "weir",
        description: "Name of the service in the traces.",
        "x-env": "OTEL_SERVICE_NAME",
      }),
    },
    {
      ...CLOSED,
      description:
        "Traces by the GenAI conventions of OpenTelemetry: one span for a call and one for each attempt, without prompts and answers.",
    },
  ),
  { faults: traceFaults, agrees: (value) => traceFaults(value) },
);

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

export type AlertOptions = Static<typeof alertOptions>;

export const alerts = section(
  "alerts",
  Type.Array(alertOptions, {
    default: [],
    examples: [
      [{ to: "https://hooks.example.com/weir", secret: "${WEIR_ALERT_SECRET}", events: ["budget"] }],
    ],
    description:
      "Webhooks, each a group of `to`, `secret`, `events`, `format` and `errorShare`. weir tells when a budget reaches a percentage of its limit (`budget`), when a deployment fails (`breaker`) or refuses weir's credential (`credential`), when many calls fail (`errors`), when the store cannot be used (`store`), and when these end. A request that fails is repeated for half an hour.",
  }),
  { faults: alertFaults },
);

function traceFaults(written: unknown): Fault[] {
  const { to, headers = {} } = written as { to?: string; headers?: Record<string, unknown> };
  const clause = to === undefined ? undefined : baseUrlFault(to);
  return [
    ...Object.entries(headers).flatMap(([header, value]) =>
      typeof value === "string" ? faultAt(["traces", "headers", header], headerFault(header, value)) : [],
    ),
    ...faultAt(["traces", "to"], clause && `to ${clause}`),
  ];
}

function alertFaults(written: unknown): Fault[] {
  return (written as readonly { to?: string }[]).flatMap(({ to = "" }, index) => {
    const clause = webhookFault(to);
    return faultAt(["alerts", index, "to"], clause && `to ${clause}`);
  });
}

/** The address may contain a credential, so messages do not repeat it. */
function webhookFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be a URL that begins with http:// or https://";
  return url.username === "" ? undefined : "must not contain a user name";
}
