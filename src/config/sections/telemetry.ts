/** The section `traces`. */
import { baseUrlFault } from "../address.ts";
import { type Fault, faultAt } from "../error.ts";
import { section } from "../section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED, headerFault, oneOf } from "./kinds.ts";
import type { Secret } from "../../core/secret.ts";

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
