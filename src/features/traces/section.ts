/** The section of the config: the collector, and what it gets. */
import { baseUrlFault } from "../../config/address.ts";
import { type Fault, faultAt } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { CLOSED, headerFault, oneOf } from "../../config/sections/kinds.ts";
import { metrics } from "../../config/sections/operator.ts";
import { Type } from "@sinclair/typebox";
import type { Secret } from "../../core/secret.ts";

/** What a config says of traces. Plain JSON: workers send it to the keeper. */
export interface TraceSettings {
  /** Where spans are sent: the address of an OTLP collector. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here, 0 to 1. */
  share: number;
  /** `respect`: a call belongs to the trace of its client, and the client decides whether it is recorded. */
  parent: "respect" | "ignore";
  service: string;
  /** Where metrics are sent; absent: no metrics. */
  metricsUrl?: string;
}

/** What a worker tells the keeper. */
export interface TracesUp {
  /** Absent: no traces. */
  settings?: TraceSettings;
}

export const tracesSection = section(
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
  { after: ["metrics"], faults: traceFaults, agrees: (value) => traceFaults(value) },
);

/**
 * The settings of a config; undefined: no traces. The secrets are revealed: the link to the keeper is private, and the keeper does
 * not store them.
 */
export function settingsOf(config: object): TraceSettings | undefined {
  const { to, headers, share, parent, service } = tracesSection.of(config);
  if (to === undefined) return undefined;
  const url = tracesUrl(to);
  const revealed = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
  return {
    ...{ url, headers: Object.fromEntries(revealed) as Record<string, string>, share, parent, service },
    ...(metrics.of(config).otlp && { metricsUrl: url.replace(TRACES, "/metrics") }),
  };
}

/** The line of the start table, if there is a collector: only its origin, because the path may contain credentials. */
export function startLinesOf(config: object): string[] {
  const { to } = tracesSection.of(config);
  return to === undefined ? [] : [`traces: to ${new URL(to).origin}`];
}

const TRACES = /\/traces\/?$/;

/** Backends name their own paths, which end like the one of the standard. */
function tracesUrl(to: string): string {
  const url = new URL(to);
  if (!TRACES.test(url.pathname)) url.pathname = url.pathname.replace(/\/*$/, "/v1/traces");
  return url.href;
}

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
